// A rank that dies in the middle of a solve.
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

using weft::tests::RunningProgram;

constexpr std::chrono::seconds patience{30};

/// A solve that goes on until it is ended; its progress line says when it iterates.
const std::vector<std::string> endless{
    "solve",       "poisson3d:100", "--threads",        "1",
    "--tolerance", "1e-300",        "--max-iterations", "100000000"};

}  // namespace

TEST_CASE("a rank that is killed takes the whole job down") {
  for (const int rank : {0, 1}) {
    INFO("rank " << rank);
    RunningProgram program(2, endless, {{"WEFT_TERMINAL", "1"}});
    CHECK(program.wait_for_errors_with("iteration ", patience));
    CHECK(program.signal_rank(rank, SIGKILL));
    const auto result = program.wait(patience);
    CHECK_FALSE(result.is_late);
    CHECK(result.exit_code != 0);
  }
}
