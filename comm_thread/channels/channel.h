#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/engine/comm_thread.h"

namespace weft::comm_thread {

/// Parameters of one end of a channel.
///
/// Two ends belong together if each names the other's rank and sends with the tag that the other
/// receives with. Several channels between two ranks, and channels from a rank to itself (between
/// its threads), need tags.
struct ChannelSpec {
  int neighbour = 0;
  std::size_t send_count = 0;  // doubles in a message sent here
  std::size_t receive_count = 0;  // doubles in a message received here
  int max_in_flight = 1;  // R: messages sent and not yet acknowledged; 1 to 512
  int send_tag = 0;
  int receive_tag = 0;
};

/// Asynchronous, bounded link to one neighbour that delivers the newest message; its users never
/// wait.
///
///     sweep:  if (channel.can_send()) { pack into channel.outgoing(); channel.send(iteration); }
///             if (channel.can_receive()) halo = channel.receive().values;
///
/// The communication thread moves the messages. On the transport `shared` they are written directly
/// to the neighbour's memory, where the newest replaces the previous one, so such a channel is
/// never full. Created by ChannelSet.
///
/// Memory ordering: a message in its send slot is published to the communication thread by the
/// release store of `sent_` and taken by its acquire load; a slot is freed by the release store of
/// `acknowledged_`. Received messages pass through a Landing.
/// Thread: sending and receiving may be two threads, each one at a time; without a communication
/// thread one, because both then do its work.
/// Lifetime: that of its set. Throws the errors of the communication thread (MpiError).
/// Source: Bethune et al. 2012, section 4.2 (journal version).
class Channel {
 public:
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int neighbour() const { return spec_.neighbour; }

  /// True if fewer than R messages are in flight.
  bool can_send() const;

  /// Buffer of the next message; valid only while `can_send()`. Shape: [send_count].
  std::span<double> outgoing();

  /// Sends the contents of `outgoing` and returns at once. If the channel is full, sends nothing
  /// and returns false. `iteration`: the sender's iteration, from which the receiver computes the
  /// staleness.
  bool send(std::uint64_t iteration);

  /// True if a message has arrived since the last `receive`.
  bool can_receive() const;

  /// Returns the newest message (see Landing::Reader::take). Shape of its values: [receive_count].
  Received receive() { return reader_.take(); }

  /// Messages sent so far. Thread: the sender.
  std::uint64_t sent_count() const { return sent_.load(std::memory_order_relaxed); }

  /// Messages sent but not acknowledged. Thread: any; exact on the sender's.
  std::uint64_t in_flight() const;

 private:
  friend class ChannelSet;

  /// `landing`: receives messages. `transport`: moves messages as link `link`; null if
  /// `neighbours_landing` is written directly.
  Channel(const ChannelSpec& spec, Delivery delivery, CommThread& comm_thread, Service& service,
          std::byte* landing, Transport* transport, std::size_t link,
          std::byte* neighbours_landing);

  // On the communication thread, only with a transport:
  bool progress();
  bool progress_sending();
  bool progress_receiving();
  void send_closing_message();

  // Three cache lines: what nobody writes, what the program writes, and what the communication
  // thread writes. Simulations of many ranks wait for each of them.
  ChannelSpec spec_;
  Transport* transport_;
  CommThread& comm_thread_;

  alignas(64) std::atomic<std::uint64_t> sent_{0};  // by the program
  Landing::Reader reader_;
  Service& service_;

  alignas(64) std::atomic<std::uint64_t> acknowledged_{0};
  // With a transport used by the communication thread only, without one by the program: where
  // messages land, here or at the neighbour.
  Landing::Writer writer_;
  std::uint64_t started_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint32_t link_;
  std::atomic<bool> is_closing_{false};
  std::atomic<bool> is_drained_{false};
  // Used by the communication thread only.
  bool has_sent_closing_ : 1 = false;
  bool is_closing_acknowledged_ : 1 = false;
  bool has_received_closing_ : 1 = false;
};

}  // namespace weft::comm_thread
