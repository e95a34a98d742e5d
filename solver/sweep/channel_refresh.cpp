#include "solver/sweep/channel_refresh.h"

#include <stdexcept>

#include "comm_thread/channels/landing.h"
#include "perfmodel/marked_region.h"

namespace weft::solver {
namespace {

using comm_thread::ChannelSpec;
using comm_thread::TeamThread;

std::vector<ChannelSpec> specs_of(std::span<const comm_thread::HaloNeighbour> neighbours) {
  std::vector<ChannelSpec> specs;
  for (const comm_thread::HaloNeighbour& neighbour : neighbours)
    for (const int parity : {0, 1})
      specs.push_back({.neighbour = neighbour.rank,
                       .send_count = static_cast<std::size_t>(neighbour.send_count),
                       .receive_count = static_cast<std::size_t>(neighbour.receive_count),
                       .max_in_flight = 1,
                       .send_tag = parity,
                       .receive_tag = parity});
  return specs;
}

}  // namespace

ChannelRefresh::ChannelRefresh(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread, Sweeper& sweeper,
                               const comm_thread::TransportChoice& transport)
    : comm_thread_(comm_thread),
      sweeper_(sweeper),
      neighbour_count_(sweeper.neighbours().size()),
      channels_(communicator, comm_thread, specs_of(sweeper.neighbours()),
                comm_thread::Delivery::async, transport),
      outgoing_(neighbour_count_),
      received_(neighbour_count_) {
  for (std::size_t i = 0; i < neighbour_count_; ++i)
    outgoing_[i] = channels_[channel(i, 0)].outgoing();
}

void ChannelRefresh::start(const TeamThread& thread, spmv::Mode /*mode*/, IterationTimer& timer) {
  if (!has_neighbours()) return;
  const perfmodel::MarkedRegion region("pack");
  for (std::size_t i = 0; i < neighbour_count_; ++i)
    sweeper_.pack(thread, SweepState::current, i, outgoing_[i]);
  thread.barrier();
  if (thread.is_primary())
    for (std::size_t i = 0; i < neighbour_count_; ++i)
      channels_[channel(i, exchange_)].send(exchange_);
  timer.lap(thread, &IterationTimes::pack);
}

void ChannelRefresh::finish(const TeamThread& thread, IterationTimer& timer) {
  if (!has_neighbours()) return;
  {
    const perfmodel::MarkedRegion region("wait");
    if (thread.is_primary()) wait_for_neighbours();
    thread.barrier();
    timer.lap(thread, &IterationTimes::wait);
  }
  const perfmodel::MarkedRegion region("pack");
  for (std::size_t i = 0; i < neighbour_count_; ++i)
    sweeper_.unpack(thread, SweepState::current, i, received_[i]);
  thread.barrier();
  timer.lap(thread, &IterationTimes::pack);
}

void ChannelRefresh::wait_for_neighbours() {
  comm_thread_.wait_for([this] { return is_done(); }, [this] { return awaited(); });
  for (std::size_t i = 0; i < neighbour_count_; ++i) {
    const comm_thread::Received received = channels_[channel(i, exchange_)].receive();
    if (received.iteration != exchange_)
      throw std::logic_error("a neighbour is not in the same exchange");
    received_[i] = received.values;
    outgoing_[i] = channels_[channel(i, exchange_ + 1)].outgoing();
  }
  ++exchange_;
}

bool ChannelRefresh::is_done() const {
  for (std::size_t i = 0; i < neighbour_count_; ++i)
    if (!channels_[channel(i, exchange_)].can_receive() ||
        !channels_[channel(i, exchange_ + 1)].can_send())
      return false;
  return true;
}

std::string ChannelRefresh::awaited() const {
  std::string text;
  for (std::size_t i = 0; i < neighbour_count_; ++i)
    if (!channels_[channel(i, exchange_)].can_receive())
      text += (text.empty() ? "halo exchange: message from rank " : ", rank ") +
              std::to_string(sweeper_.neighbours()[i].rank);
  return text.empty() ? "halo exchange: room for the next message" : text;
}

}  // namespace weft::solver
