#include "comm_thread/engine/recursive_doubling.h"

#include <bit>

namespace weft::comm_thread {

void add_recursive_doubling(Schedule::Builder& builder, const MessageSpace& space,
                            std::span<std::byte> own, std::span<std::byte> received,
                            const std::function<void()>& combine_received) {
  const int rank = space.rank();
  const int size = space.size();
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  if (rank >= core) {  // a partner inside the power of two works for both
    builder.send(own.data(), own.size(), rank - core).end_round();
    builder.receive(own.data(), own.size(), rank - core).end_round();
    return;
  }
  const bool has_partner = rank + core < size;
  if (has_partner)
    builder.receive(received.data(), received.size(), rank + core).end_round(combine_received);
  for (int distance = 1; distance < core; distance *= 2)
    builder.receive(received.data(), received.size(), rank ^ distance)
        .send(own.data(), own.size(), rank ^ distance)
        .end_round(combine_received);
  if (has_partner) builder.send(own.data(), own.size(), rank + core).end_round();
}

}  // namespace weft::comm_thread
