#include "spmv/modes/run_in_mode.h"

#include <catch2/catch.hpp>

#include "perfmodel/mode_model.h"
#include "spmv/modes/mode.h"

namespace weft::spmv {
namespace {

// Numbers that add up exactly.
constexpr perfmodel::ModeCosts costs{.product = 64,
                                     .interior = 60,
                                     .boundary = 6,
                                     .pack = 1,
                                     .halo = 32,
                                     .carrying = 2,
                                     .handover = 0.5};

TEST_CASE("modes that wait for the halo add its time to the product") {
  CHECK(predicted_seconds(Mode::vector, costs) == 1 + 32 + 64);
  CHECK(predicted_seconds(Mode::overlap, costs) == 1 + 32 + 64);
}

TEST_CASE("modes that hide the halo take the longer of it and the interior rows") {
  CHECK(predicted_seconds(Mode::overlap_test, costs) == 1 + (60 + 2) + 6);
  CHECK(predicted_seconds(Mode::task, costs) == 1 + (60 + 2) + 6 + 0.5);
  perfmodel::ModeCosts slow = costs;
  slow.halo = 100;
  CHECK(predicted_seconds(Mode::overlap_test, slow) == 1 + 100 + 6);
  CHECK(predicted_seconds(Mode::task, slow) == 1 + 100 + 6 + 0.5);
}

TEST_CASE("every mode has a name that is understood") {
  CHECK(all_modes().size() == mode_names().size());
  for (const Mode mode : all_modes()) CHECK(parse_mode(name(mode)) == mode);
  CHECK_FALSE(parse_mode("other"));
}

}  // namespace
}  // namespace weft::spmv
