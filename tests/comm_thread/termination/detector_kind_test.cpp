#include "comm_thread/termination/detector_kind.h"

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("detectors have names") {
  for (const auto kind : {DetectorKind::flags, DetectorKind::residual, DetectorKind::all_reduce,
                          DetectorKind::snapshot})
    CHECK(detector_kind(name(kind)) == kind);
  CHECK(name(DetectorKind::all_reduce) == "all-reduce");
  CHECK_THROWS_AS(detector_kind("flag"), InputError);
}

}  // namespace
}  // namespace weft::comm_thread
