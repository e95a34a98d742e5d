#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

/// The neighbours, whose ranks are the keys, in their order.
inline std::vector<HaloNeighbour> in_order(const std::map<int, HaloNeighbour>& by_rank) {
  std::vector<HaloNeighbour> neighbours;
  for (const auto& [rank, neighbour] : by_rank) neighbours.emplace_back(neighbour).rank = rank;
  return neighbours;
}

/// Messages and bytes of one exchange, to and from this rank.
struct HaloTraffic {
  std::int64_t receive_count = 0;  // messages
  std::int64_t send_count = 0;  // messages
  std::int64_t received_bytes = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t longest_message_bytes = 0;

  /// True if MPI libraries send all messages at once, so that nobody need move them along.
  bool is_short() const {
    constexpr std::int64_t short_bytes = 8192;
    return longest_message_bytes <= short_bytes;
  }
};

/// Updates the halo of one vector, or of several that stand together element by element: a
/// neighbour exchange from one send buffer.
///
///     rank 1 of 3:   send buffer | for 0 | for 2 |  ──►  halo of ranks 0 and 2
///                    halo        | of 0  | of 2  |  ◄──  send buffers of ranks 0 and 2
///
/// Vector and overlap mode call `start_here`, task mode `post`; all wait for the Pending. weft
/// makes no copy of the values between send buffer and halo. `Value`: trivially copyable.
/// Lifetime: `space` and `halo` outlive it. Thread: one at a time.
template <class Value>
class HaloExchange {
 public:
  static constexpr const char* usual_name = "halo exchange";

  /// `tag`: the same on all ranks, different for every exchange on `space`. `halo`:
  /// destination of received entries; the neighbours' ranges cover it. `width`: number of vectors,
  /// by which ranges count. `name`: for messages. Not collective by itself, but both ends of every
  /// pair must exist before either is used.
  HaloExchange(const MessageSpace& space, std::span<const HaloNeighbour> neighbours,
               std::span<Value> halo, int tag, int width = 1, std::string name = usual_name) {
    open(space, neighbours, halo, tag, width, std::move(name));
  }

  /// Receives into `received()`, which it makes.
  HaloExchange(const MessageSpace& space, std::span<const HaloNeighbour> neighbours, int tag,
               std::string name = usual_name)
      : received_(
            end_of(neighbours, &HaloNeighbour::receive_begin, &HaloNeighbour::receive_count)) {
    open(space, neighbours, received_, tag, 1, std::move(name));
  }

  /// Values to send, filled by the caller before each exchange. Shape: covered by the neighbours'
  /// send ranges.
  std::span<Value> send_buffer() { return send_buffer_; }
  /// What has come, where no halo was given. Shape: covered by the receive ranges.
  std::span<Value> received() { return received_; }

  bool has_neighbours() const { return !exchange_->is_empty(); }
  NeighbourExchange& messages() { return *exchange_; }
  const HaloTraffic& traffic() const { return traffic_; }
  /// Bytes of buffers.
  std::size_t buffer_bytes() const {
    return (send_buffer_.size() + received_.size()) * sizeof(Value);
  }

  /// Starts the exchange on the calling thread, which must wait for the Pending.
  Pending start_here(CommThread& thread) { return exchange_->start_here(thread); }

  /// Posts the exchange to the communication thread. Receive `i` of the Pending is the i-th
  /// neighbour that sends anything.
  Pending post(CommThread& thread) { return exchange_->post(thread); }

 private:
  /// Where the last range ends.
  static std::size_t end_of(std::span<const HaloNeighbour> neighbours,
                            std::int64_t HaloNeighbour::* begin,
                            std::int64_t HaloNeighbour::* count) {
    std::int64_t end = 0;
    for (const HaloNeighbour& neighbour : neighbours)
      end = std::max(end, neighbour.*begin + neighbour.*count);
    return static_cast<std::size_t>(end);
  }

  void open(const MessageSpace& space, std::span<const HaloNeighbour> neighbours,
            std::span<Value> halo, int tag, int width, std::string name) {
    const auto part = [&](std::span<Value> all, std::int64_t begin, std::int64_t count) {
      return all.subspan(static_cast<std::size_t>(begin * width),
                         static_cast<std::size_t>(count * width));
    };
    send_buffer_.resize(end_of(neighbours, &HaloNeighbour::send_begin, &HaloNeighbour::send_count) *
                        static_cast<std::size_t>(width));
    std::vector<ExchangeNeighbour> parts;
    for (const HaloNeighbour& neighbour : neighbours) {
      const ExchangeNeighbour& both = parts.emplace_back(
          neighbour.rank,
          std::as_bytes(part(send_buffer_, neighbour.send_begin, neighbour.send_count)),
          std::as_writable_bytes(part(halo, neighbour.receive_begin, neighbour.receive_count)));
      traffic_.receive_count += !both.receive.empty();
      traffic_.send_count += !both.send.empty();
      traffic_.received_bytes += std::ssize(both.receive);
      traffic_.sent_bytes += std::ssize(both.send);
      traffic_.longest_message_bytes = std::max<std::int64_t>(
          {traffic_.longest_message_bytes, std::ssize(both.receive), std::ssize(both.send)});
    }
    exchange_.emplace(space, std::move(name), parts, tag);
  }

  std::vector<Value> send_buffer_;
  std::vector<Value> received_;  // where no halo was given
  HaloTraffic traffic_;
  std::optional<NeighbourExchange> exchange_;  // created once its buffers no longer move
};

}  // namespace weft::comm_thread
