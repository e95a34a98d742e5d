#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/channels/channel.h"
#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/shared_landings.h"
#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/service.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// All channels of a rank that share one transport, progressed by the communication thread.
///
///     ChannelSet channels(communicator, comm_thread, specs, Delivery::async, choice);
///     ... channels[i].send(iteration) ... channels[i].receive() ...
///     channels.collective_close();
///
/// Memory per channel: R messages to send and three received, independent of the number sent.
/// Collective: construction, `collective_close` and destruction, over `communicator`.
/// Lifetime: inside those of `comm_thread` and the MpiSession.
/// Throws InputError, on all ranks, for specs that are out of range, whose two ends disagree, or
/// that the transport cannot carry.
class ChannelSet {
 public:
  ChannelSet(const Communicator& communicator, CommThread& comm_thread,
             std::span<const ChannelSpec> specs, Delivery delivery, const TransportChoice& choice);

  /// Channels that `transport` carries: link i is that of spec i. Not collective. For callers that
  /// may not wait, which end it by `begin_close`, `is_drained` and `end_close`.
  ChannelSet(CommThread& comm_thread, std::span<const ChannelSpec> specs, Delivery delivery,
             std::unique_ptr<Transport> transport);

  /// Closes the channels unless already closed or unless an exception is about to end the job.
  ~ChannelSet();
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;

  std::size_t size() const { return channels_.size(); }

  /// In the order of the specs.
  Channel& operator[](std::size_t i) { return *channels_[i]; }
  const Channel& operator[](std::size_t i) const { return *channels_[i]; }

  /// Returns when every message sent by any rank has arrived; nothing is left in flight. The last
  /// messages may still be received; nothing may be sent. Throws MpiError.
  void collective_close();

  /// The three parts of `collective_close`: nothing may be sent from `begin_close` on; once
  /// `is_drained`, nothing is in flight on this rank's channels and `end_close` may follow, which
  /// is collective as that of the transport.
  void begin_close();
  bool is_drained() const;
  void end_close();

 private:
  void make_channels(std::span<const ChannelSpec> specs, Delivery delivery);

  /// Service that progresses the channels.
  class Carrier final : public Service {
   public:
    explicit Carrier(ChannelSet& set) : set_(set) {}
    bool progress() override;

   private:
    ChannelSet& set_;
  };

  std::string awaited() const;
  /// Releases everything without the other ranks; memory that MPI may still access stays allocated.
  void abandon() noexcept;

  CommThread& comm_thread_;
  Carrier carrier_{*this};
  std::unique_ptr<SharedLandings> shared_;  // or
  std::unique_ptr<Transport> transport_;  // with
  std::vector<std::unique_ptr<SlotRing>> landings_;  // memory of one Landing each, or null: shared
  std::vector<std::unique_ptr<Channel>> channels_;
  int exceptions_at_start_;
  bool is_open_ = false;
  std::atomic<bool> is_closing_{false};
};

}  // namespace weft::comm_thread
