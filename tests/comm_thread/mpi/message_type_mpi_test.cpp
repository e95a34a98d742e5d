#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/message_type.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("a message type covers every byte of any length, without a gap") {
  const std::size_t gib = std::size_t{1} << 30;
  const std::vector<std::size_t> lengths{
      0, 1, gib, 2 * gib - 1, 2 * gib, 2 * gib + 1, 3 * gib - 1, 3 * gib, 1000 * gib + 12345};
  for (const std::size_t bytes : lengths) {
    const MessageType type(bytes);
    MPI_Count size = -1, begin = -1, extent = -1;
    MPI_Type_size_x(type.handle(), &size);
    MPI_Type_get_extent_x(type.handle(), &begin, &extent);
    CHECK(static_cast<std::size_t>(type.count() * size) == bytes);
    CHECK(begin == 0);
    CHECK(extent == size);
  }
}

}  // namespace
}  // namespace weft::comm_thread
