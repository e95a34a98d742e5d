#include "solver/sweep/channel_halo.h"

#include <cstddef>

#include "solver/report/histogram_count.h"

namespace weft::solver {
namespace {

using comm_thread::ChannelSpec;
using comm_thread::TeamThread;

std::vector<ChannelSpec> specs_of(std::span<const comm_thread::HaloNeighbour> neighbours,
                                  int max_in_flight) {
  std::vector<ChannelSpec> specs;
  for (const comm_thread::HaloNeighbour& neighbour : neighbours)
    specs.push_back({.neighbour = neighbour.rank,
                     .send_count = static_cast<std::size_t>(neighbour.send_count),
                     .receive_count = static_cast<std::size_t>(neighbour.receive_count),
                     .max_in_flight = max_in_flight});
  return specs;
}

}  // namespace

ChannelHalo::ChannelHalo(const comm_thread::Communicator& communicator,
                         comm_thread::CommThread& comm_thread, Sweeper& sweeper,
                         const Options& options)
    : sweeper_(sweeper),
      channels_(communicator, comm_thread, specs_of(sweeper.neighbours(), options.max_in_flight),
                options.delivery, options.transport),
      links_(channels_.size()) {}

void ChannelHalo::plan_nothing() {
  traffic_ = {};
  is_anything_planned_ = false;
  for (Link& link : links_) link.is_sending = link.has_arrived = false;
}

void ChannelHalo::plan(std::int64_t iteration, bool is_sending) {
  plan_nothing();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    receive_newest(i);
    link.is_sending = is_sending && channels_[i].can_send();
    if (link.is_sending) link.outgoing = channels_[i].outgoing();
    traffic_.sent_count += link.is_sending;
    traffic_.skipped_count += is_sending && !link.is_sending;
    traffic_.unpacked_count += link.has_arrived;
    count(staleness_, iteration - static_cast<std::int64_t>(link.neighbours_iteration));
  }
  is_anything_planned_ = traffic_.sent_count + traffic_.unpacked_count > 0;
  total_.sent_count += traffic_.sent_count;
  total_.skipped_count += traffic_.skipped_count;
}

void ChannelHalo::receive_newest(std::size_t i) {
  Link& link = links_[i];
  link.has_arrived = channels_[i].can_receive();
  if (!link.has_arrived) return;
  const comm_thread::Received received = channels_[i].receive();
  link.received = received.values;
  link.neighbours_iteration = received.iteration;
  received_count_ += received.arrived_count;
  count(batches_, static_cast<std::int64_t>(received.arrived_count));
}

void ChannelHalo::copy(const TeamThread& thread) {
  if (!is_anything_planned_) return;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].is_sending) sweeper_.pack(thread, SweepState::current, i, links_[i].outgoing);
    if (links_[i].has_arrived) sweeper_.unpack(thread, SweepState::current, i, links_[i].received);
  }
  thread.barrier();
}

void ChannelHalo::send(std::int64_t iteration) {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].is_sending) channels_[i].send(static_cast<std::uint64_t>(iteration));
}

void ChannelHalo::collective_close() {
  channels_.collective_close();
  for (std::size_t i = 0; i < links_.size(); ++i)
    received_count_ += channels_[i].receive().arrived_count;
}

void ChannelHalo::report(IterationReport& report) const {
  report.staleness = staleness_;
  report.batches = batches_;
  report.sent_count = total_.sent_count;
  report.received_count = received_count_;
  report.skipped_count = total_.skipped_count;
}

}  // namespace weft::solver
