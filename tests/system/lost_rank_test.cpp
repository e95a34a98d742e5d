// A rank that dies in the middle of a solve.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
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

TEST_CASE("what the launcher says about a lost rank becomes one line") {
  RunningProgram program(2, endless, {{"WEFT_TERMINAL", "1"}});
  CHECK(program.wait_for_errors_with("iteration ", patience));
  CHECK(program.signal_rank(1, SIGKILL));
  const auto result = program.wait(patience);

  INFO(result.errors);
  const weft::tests::ScratchFolder folder;
  const std::string said = folder.write("said", "before\n====\n" + result.output + "after");
  const std::string command = "tools/launch sh -c 'cat " + said + "; exit 9' >" +
                              folder.path("out") + " 2>" + folder.path("errors");
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 5);
  const std::string errors = weft::tests::read_file(folder.path("errors"));
  CHECK_THAT(errors, Catch::StartsWith("weft: a rank was lost (process "));
  CHECK_THAT(errors, Catch::EndsWith("); the job is ended\n"));
  CHECK(std::ranges::count(errors, '\n') == 1);
  const std::string output = weft::tests::read_file(folder.path("out"));
  CHECK_THAT(output, Catch::StartsWith("before\n====\n"));
  CHECK_THAT(output, Catch::EndsWith("after"));
  CHECK_THAT(output, !Catch::Contains("BAD TERMINATION"));
}

TEST_CASE("what the launcher says about anything else goes through, and so does progress") {
  const weft::tests::ScratchFolder folder;
  const std::string command =
      "tools/launch sh -c 'printf \"at 1\\rat 2\" >&2; echo \"[mpiexec@a] no such host\" >&2; "
      "echo result; exit 3' >" +
      folder.path("out") + " 2>" + folder.path("errors");
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
  CHECK(weft::tests::read_file(folder.path("out")) == "result\n");
  CHECK(weft::tests::read_file(folder.path("errors")) == "at 1\rat 2[mpiexec@a] no such host\n");
}

TEST_CASE("a command that cannot be started is one line") {
  const weft::tests::ScratchFolder folder;
  const std::string command = "tools/launch " + folder.path("none") + " 2>" + folder.path("errors");
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 127);
  const std::string errors = weft::tests::read_file(folder.path("errors"));
  CHECK_THAT(errors, Catch::StartsWith("weft: " + folder.path("none") + ": cannot be started"));
  CHECK(std::ranges::count(errors, '\n') == 1);
}

TEST_CASE("launchers of several hosts that lose one rank say one line") {
  const weft::tests::ScratchFolder folder;
  const std::string said = folder.write(
      "said",
      "[proxy:0:1@n1] HYD_pmcd_pmip_control_cmd_cb (pm/pmip_cb.c:899): assert (!closed) failed\n"
      "[proxy:0:1@n1] main (pm/pmiserv/pmip.c:169): demux engine error waiting for event\n"
      "[mpiexec@switch] main (ui/mpich/mpiexec.c:325): process manager error\n");
  const std::string command =
      "tools/launch sh -c 'cat " + said + " >&2' 2>" + folder.path("errors");
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 5);
  CHECK(weft::tests::read_file(folder.path("errors")) ==
        "weft: a rank was lost; the job is ended\n");
}
