#include "comm_thread/channels/channel_set.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "comm_thread/channels/one_sided_transport.h"
#include "comm_thread/channels/openshmem_transport.h"
#include "comm_thread/channels/two_sided_transport.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

constexpr int most_in_flight = 512;

void check(const ChannelSpec& spec, int rank_count) {
  const auto refuse = [](const std::string& what, int found, int least, int most) {
    throw InputError("channel: " + what + ": found " + std::to_string(found) + "; expected " +
                     std::to_string(least) + " to " + std::to_string(most));
  };
  if (spec.neighbour < 0 || spec.neighbour >= rank_count)
    refuse("neighbour", spec.neighbour, 0, rank_count - 1);
  if (spec.max_in_flight < 1 || spec.max_in_flight > most_in_flight)
    refuse("most messages in flight", spec.max_in_flight, 1, most_in_flight);
}

/// `header_bytes`: bytes that the transport adds to each message.
std::vector<LinkPlan> link_plans(std::span<const ChannelSpec> specs, Delivery delivery,
                                 std::size_t header_bytes) {
  std::vector<LinkPlan> plans;
  for (const ChannelSpec& spec : specs)
    plans.push_back({.neighbour = spec.neighbour,
                     .send_tag = spec.send_tag,
                     .receive_tag = spec.receive_tag,
                     .send_bytes = header_bytes + spec.send_count * sizeof(double),
                     .receive_bytes = header_bytes + spec.receive_count * sizeof(double),
                     .slot_count = static_cast<std::size_t>(spec.max_in_flight),
                     .delivery = static_cast<std::uint64_t>(delivery)});
  return plans;
}

std::unique_ptr<Transport> collective_make_transport(const Communicator& communicator,
                                                     std::span<const LinkPlan> plans,
                                                     const TransportChoice& choice) {
  if (choice.kind == TransportKind::one_sided)
    return collective_make_one_sided_transport(communicator, plans, choice.one_sided);
  if (choice.kind == TransportKind::shmem)
    return collective_make_openshmem_transport(communicator, plans, choice.shmem);
  return collective_make_two_sided_transport(communicator, plans);
}

}  // namespace

ChannelSet::ChannelSet(const Communicator& communicator, CommThread& comm_thread,
                       std::span<const ChannelSpec> specs, Delivery delivery,
                       const TransportChoice& choice)
    : comm_thread_(comm_thread), exceptions_at_start_(std::uncaught_exceptions()) {
  collective_attempt(communicator, [&] {
    for (const ChannelSpec& spec : specs) check(spec, communicator.size());
  });
  if (choice.kind == TransportKind::shared)
    shared_ =
        std::make_unique<SharedLandings>(communicator, link_plans(specs, delivery, 0), delivery);
  else
    transport_ = collective_make_transport(
        communicator, link_plans(specs, delivery, sizeof(MessageHeader)), choice);
  make_channels(specs, delivery);
}

ChannelSet::ChannelSet(CommThread& comm_thread, std::span<const ChannelSpec> specs,
                       Delivery delivery, std::unique_ptr<Transport> transport)
    : comm_thread_(comm_thread),
      transport_(std::move(transport)),
      exceptions_at_start_(std::uncaught_exceptions()) {
  make_channels(specs, delivery);
}

void ChannelSet::make_channels(std::span<const ChannelSpec> specs, Delivery delivery) {
  landings_.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (shared_ && shared_->here(i)) continue;
    landings_[i] = std::make_unique<SlotRing>(Landing::bytes(delivery, specs[i].receive_count), 1);
    Landing::initialise(landings_[i]->slot(1).data(), delivery, specs[i].receive_count);
  }
  channels_.reserve(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i)
    channels_.emplace_back(
        new Channel(specs[i], delivery, comm_thread_, carrier_,
                    landings_[i] ? landings_[i]->slot(1).data() : shared_->here(i),
                    transport_.get(), i, shared_ ? shared_->there(i) : nullptr));
  if (transport_) comm_thread_.add_service(carrier_);
  is_open_ = true;
}

ChannelSet::~ChannelSet() {
  if (!is_open_) return;
  if (std::uncaught_exceptions() == exceptions_at_start_)
    collective_close();
  else
    abandon();
}

void ChannelSet::abandon() noexcept {
  is_open_ = false;
  try {
    if (transport_) comm_thread_.remove_service(carrier_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the exception on its way says more
  }
  // MPI may still write to their memory, and freeing it is collective.
  static_cast<void>(transport_.release());  // NOLINT(bugprone-unused-return-value)
  static_cast<void>(shared_.release());  // NOLINT(bugprone-unused-return-value)
}

bool ChannelSet::Carrier::progress() {
  const bool has_news = set_.transport_->progress();
  if (!has_news && !set_.is_closing_.load(std::memory_order_acquire)) return false;
  bool moved = false;
  for (const std::unique_ptr<Channel>& channel : set_.channels_)
    moved = channel->progress() || moved;
  return moved;
}

bool ChannelSet::is_drained() const {
  return std::ranges::all_of(channels_, [](const std::unique_ptr<Channel>& channel) {
    return channel->is_drained_.load(std::memory_order_acquire);
  });
}

std::string ChannelSet::awaited() const {
  std::string text;
  for (const std::unique_ptr<Channel>& channel : channels_)
    if (!channel->is_drained_.load(std::memory_order_acquire))
      text += (text.empty() ? "end of the channel to rank " : ", rank ") +
              std::to_string(channel->neighbour());
  return text;
}

void ChannelSet::collective_close() {
  if (!is_open_) return;
  if (shared_) {
    is_open_ = false;
    shared_->collective_close();
    return;
  }
  begin_close();
  try {
    comm_thread_.wait_for(
        [this] {
          carrier_.rethrow_error();
          return is_drained();
        },
        [this] { return awaited(); });
    end_close();
  } catch (...) {
    if (is_open_) abandon();
    throw;
  }
}

void ChannelSet::begin_close() {
  for (const std::unique_ptr<Channel>& channel : channels_)
    channel->is_closing_.store(true, std::memory_order_release);
  is_closing_.store(true, std::memory_order_release);
}

void ChannelSet::end_close() {
  comm_thread_.remove_service(carrier_);
  is_open_ = false;
  transport_->collective_close();
}

}  // namespace weft::comm_thread
