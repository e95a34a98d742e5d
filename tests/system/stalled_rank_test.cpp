// A rank that stops answering for a while in the middle of a solve.
#include <signal.h>

#include <chrono>
#include <regex>
#include <string>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

using weft::tests::RunningProgram;

constexpr std::chrono::seconds patience{30};

/// Stops rank 1 until rank 0 says that it waits for it.
void check_stall(const std::string& mode) {
  RunningProgram program(2, {"solve", "poisson3d:100", "--threads", "1", "--mode", mode},
                         {{"WEFT_TERMINAL", "1"}, {"WEFT_STALL_SECONDS", "1"}});
  CHECK(program.wait_for_errors_with("iteration ", patience));
  CHECK(program.signal_rank(1, SIGSTOP));
  CHECK(program.wait_for_errors_with("weft: rank 0 has been waiting for ", patience));
  CHECK(program.signal_rank(1, SIGCONT));
  const auto result = program.wait(patience);
  INFO(result.errors);
  CHECK_FALSE(result.is_late);
  CHECK(result.exit_code == 0);
  const std::regex awaited(
      "weft: rank 0 has been waiting for [0-9]+ s: (halo exchange|all-reduce): "
      "(receive from|send to) rank 1");
  CHECK(std::regex_search(result.errors, awaited));
  CHECK(result.output.find("converged after") != std::string::npos);
}

}  // namespace

TEST_CASE("a rank says for whom it waits and goes on when the other answers, vector mode") {
  check_stall("vector");
}
TEST_CASE("a rank says for whom it waits and goes on when the other answers, overlap mode") {
  check_stall("overlap");
}
TEST_CASE("a rank says for whom it waits and goes on when the other answers, task mode") {
  check_stall("task");
}

TEST_CASE("a rank that waits for one that has stopped for good gives up, without a launcher too") {
  RunningProgram program(
      2, {"solve", "poisson3d:100", "--threads", "1", "--mode", "task", "--give-up-after", "2"},
      {{"WEFT_TERMINAL", "1"}, {"WEFT_STALL_SECONDS", "1"}});
  CHECK(program.wait_for_errors_with("iteration ", patience));
  CHECK(program.signal_rank(1, SIGSTOP));
  const auto result = program.wait(patience);
  INFO(result.errors);
  CHECK_FALSE(result.is_late);
  CHECK(result.exit_code == 5);
  const std::regex gave_up(
      "weft: rank 0 on [^ ]+ gives up after [0-9]+ s: (halo exchange|all-reduce): "
      "[^;]* rank 1; the job is ended\n");
  CHECK(std::regex_search(result.errors, gave_up));
}

TEST_CASE(
    "a time to give up that is no time is refused, and the option is found behind a command") {
  const auto unknown =
      weft::tests::run_weft(1, {"solve", "poisson3d:5", "--threads", "1", "--give-up-afer", "9"});
  CHECK_THAT(unknown.errors, Catch::Contains("expected --give-up-after, or"));
  const auto result =
      weft::tests::run_weft(2, {"solve", "poisson3d:5", "--threads", "1", "--give-up-after", "0"});
  CHECK(result.exit_code == 2);
  CHECK(result.errors == "weft: --give-up-after: found '0'; expected a number above 0\n");
}

TEST_CASE("a stall time that is no time is refused") {
  for (const char* const seconds : {"0", "-1", "soon", "nan", "1x", ""}) {
    INFO("WEFT_STALL_SECONDS=" << seconds);
    const auto result = weft::tests::run_weft(2, {"solve", "poisson3d:5", "--threads", "1"},
                                              {{"WEFT_STALL_SECONDS", seconds}});
    CHECK(result.exit_code == 2);
    CHECK(result.errors == std::string("weft: WEFT_STALL_SECONDS: found '") + seconds +
                               "'; expected a number of seconds above 0\n");
    CHECK(result.output == "");
  }
}
