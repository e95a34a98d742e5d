#include "comm_thread/engine/halo_exchange.h"

namespace weft::comm_thread {
namespace {

std::span<double> part(std::span<double> all, std::int64_t begin, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

}  // namespace

HaloExchange::HaloExchange(const MessageSpace& space, std::span<const HaloNeighbour> neighbours,
                           std::span<double> halo, int tag) {
  std::int64_t send_count = 0;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(double));
  for (const HaloNeighbour& neighbour : neighbours) {
    send_count += neighbour.send_count;
    traffic_.receive_count += neighbour.receive_count > 0;
    traffic_.received_bytes += neighbour.receive_count * bytes;
    traffic_.sent_bytes += neighbour.send_count * bytes;
  }
  send_buffer_.resize(static_cast<std::size_t>(send_count));

  std::vector<ExchangeNeighbour> parts;
  for (const HaloNeighbour& neighbour : neighbours)
    parts.push_back(
        {neighbour.rank,
         std::as_bytes(part(send_buffer_, neighbour.send_begin, neighbour.send_count)),
         std::as_writable_bytes(part(halo, neighbour.receive_begin, neighbour.receive_count))});
  exchange_.emplace(space, "halo exchange", parts, tag);
}

}  // namespace weft::comm_thread
