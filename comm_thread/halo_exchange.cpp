#include "comm_thread/halo_exchange.h"

namespace weft::comm_thread {

HaloExchange::HaloExchange(const Communicator& communicator,
                           std::span<const HaloNeighbour> neighbours, std::span<double> halo,
                           int tag) {
  std::int64_t send_count = 0;
  for (const HaloNeighbour& neighbour : neighbours) send_count += neighbour.send_count;
  send_buffer_.resize(static_cast<std::size_t>(send_count));

  Schedule::Builder builder(communicator, "halo exchange");
  const auto bytes = [](std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(double);
  };
  for (const HaloNeighbour& neighbour : neighbours)
    if (neighbour.receive_count > 0)
      builder.receive(halo.data() + neighbour.receive_begin, bytes(neighbour.receive_count),
                      neighbour.rank, tag);
  for (const HaloNeighbour& neighbour : neighbours)
    if (neighbour.send_count > 0)
      builder.send(send_buffer_.data() + neighbour.send_begin, bytes(neighbour.send_count),
                   neighbour.rank, tag);
  schedule_ = builder.build();
}

}  // namespace weft::comm_thread
