#include "comm_thread/engine/neighbour_exchange.h"

#include <utility>

namespace weft::comm_thread {

NeighbourExchange::NeighbourExchange(const MessageSpace& space, std::string name,
                                     std::span<const ExchangeNeighbour> neighbours, int tag) {
  Schedule::Builder builder(space, std::move(name));
  for (const ExchangeNeighbour& neighbour : neighbours)
    if (!neighbour.receive.empty())
      builder.receive(neighbour.receive.data(), neighbour.receive.size(), neighbour.rank, tag);
  for (const ExchangeNeighbour& neighbour : neighbours)
    if (!neighbour.send.empty())
      builder.send(neighbour.send.data(), neighbour.send.size(), neighbour.rank, tag);
  schedule_ = builder.build();
}

}  // namespace weft::comm_thread
