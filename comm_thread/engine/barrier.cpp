#include "comm_thread/engine/barrier.h"

namespace weft::comm_thread {

Barrier::Barrier(const Communicator& communicator, int tag) {
  Schedule::Builder builder(communicator, "barrier");
  const int rank = communicator.rank();
  const int size = communicator.size();
  // The distances differ modulo p, so no two rounds have a message between the same ranks.
  for (int distance = 1; distance < size; distance *= 2)
    builder.receive(nullptr, 0, (rank - distance + size) % size, tag)
        .send(nullptr, 0, (rank + distance) % size, tag)
        .end_round();
  schedule_ = builder.build();
}

}  // namespace weft::comm_thread
