#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// Ranges sent to and received from one neighbour in a halo exchange, in elements.
struct HaloNeighbour {
  int rank = 0;
  std::int64_t send_begin = 0;  // in the send buffer
  std::int64_t send_count = 0;
  std::int64_t receive_begin = 0;  // in the halo
  std::int64_t receive_count = 0;
};

/// Messages and bytes of one exchange, to and from this rank.
struct HaloTraffic {
  std::int64_t receive_count = 0;  // messages
  std::int64_t received_bytes = 0;
  std::int64_t sent_bytes = 0;
};

/// Updates the halo of one vector: a neighbour exchange from one send buffer.
///
///     rank 1 of 3:   send buffer | for 0 | for 2 |  ──►  halo of ranks 0 and 2
///                    halo        | of 0  | of 2  |  ◄──  send buffers of ranks 0 and 2
///
/// Vector and overlap mode call `start_here`, task mode `post`; all wait for the Pending. weft
/// makes no copy of the values between send buffer and halo.
/// Lifetime: `space` and `halo` outlive it. Thread: one at a time.
class HaloExchange {
 public:
  /// `tag`: the same on all ranks, different for every exchange on `space`. `halo`:
  /// destination of received entries; the neighbours' ranges cover it. Not collective by itself,
  /// but both ends of every pair must exist before either is used.
  HaloExchange(const MessageSpace& space, std::span<const HaloNeighbour> neighbours,
               std::span<double> halo, int tag);

  /// Values to send, filled by the caller before each exchange. Shape: covered by the neighbours'
  /// send ranges.
  std::span<double> send_buffer() { return send_buffer_; }

  bool has_neighbours() const { return !exchange_->is_empty(); }
  NeighbourExchange& messages() { return *exchange_; }
  const HaloTraffic& traffic() const { return traffic_; }

  /// Starts the exchange on the calling thread, which must wait for the Pending.
  Pending start_here(CommThread& thread) { return exchange_->start_here(thread); }

  /// Posts the exchange to the communication thread. Receive `i` of the Pending is the i-th
  /// neighbour that sends anything.
  Pending post(CommThread& thread) { return exchange_->post(thread); }

 private:
  std::vector<double> send_buffer_;
  HaloTraffic traffic_;
  std::optional<NeighbourExchange> exchange_;  // created once its buffers no longer move
};

}  // namespace weft::comm_thread
