#include "comm_thread/probe/overlap_result.h"

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("the overlap is the hidden share of the shorter time") {
  CHECK(overlap({.pure = 2, .compute = 2, .overlapped = 2}) == Approx(1));
  CHECK(overlap({.pure = 2, .compute = 2, .overlapped = 4}) == Approx(0).margin(1e-15));
  CHECK(overlap({.pure = 2, .compute = 2, .overlapped = 3}) == Approx(0.5));
  // A short message that disappears behind a long computation, and the other way round.
  CHECK(overlap({.pure = 1, .compute = 4, .overlapped = 4}) == Approx(1));
  CHECK(overlap({.pure = 4, .compute = 1, .overlapped = 4}) == Approx(1));
  CHECK(overlap({.pure = 1, .compute = 4, .overlapped = 4.25}) == Approx(0.75));
  // Both at once cost more than one after the other.
  CHECK(overlap({.pure = 2, .compute = 2, .overlapped = 5}) == Approx(-0.5));
}

TEST_CASE("nothing to hide gives no overlap") {
  CHECK(overlap({.pure = 0, .compute = 1, .overlapped = 1}) == 0);
  CHECK(overlap({}) == 0);
}

TEST_CASE("the names of operations and methods are read back") {
  for (const auto operation :
       {ProgressOperation::isend_irecv, ProgressOperation::put_flush, ProgressOperation::all_reduce,
        ProgressOperation::neighbour_exchange})
    CHECK(parse_progress_operation(name(operation)) == operation);
  for (const auto method : {ProgressMethod::plain, ProgressMethod::mpi_progress_thread,
                            ProgressMethod::communication_thread})
    CHECK(parse_progress_method(name(method)) == method);
  CHECK(name(ProgressOperation::neighbour_exchange) == "neighbour-exchange");
  CHECK(name(ProgressMethod::mpi_progress_thread) == "mpi-progress-thread");
  CHECK_FALSE(parse_progress_operation("plain"));
  CHECK_FALSE(parse_progress_method("Plain"));
}

TEST_CASE("sizes are told in decimal units") {
  CHECK(bytes_as_text(4) == "4 B");
  CHECK(bytes_as_text(999) == "999 B");
  CHECK(bytes_as_text(1000) == "1 kB");
  CHECK(bytes_as_text(65536) == "65.5 kB");
  CHECK(bytes_as_text(80'000'000) == "80 MB");
  CHECK(bytes_as_text(2'000'000'000) == "2 GB");
}

}  // namespace
}  // namespace weft::comm_thread
