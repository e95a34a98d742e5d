// Checkpoints on the command line: what ends a run with one.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

namespace fs = std::filesystem;
using weft::tests::read_file;
using weft::tests::run_weft;
using weft::tests::RunningProgram;
using weft::tests::ScratchFolder;

constexpr std::chrono::seconds patience{60};

using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Long enough for a signal to come before its end: two seconds and more.
const Words longer{"solve", "poisson2d:1000", "--threads", "1"};

}  // namespace

TEST_CASE("a signal to any rank, or the end of the time, leads to a checkpoint and a summary") {
  const ScratchFolder folder;
  const std::string solution = folder.path("x.npy");
  CHECK(run_weft(1, joined(longer, {"--solution", solution})).exit_code == 0);
  const std::string expected = read_file(solution);
  const std::string state = folder.path("state");
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, 0}) {
    INFO("signal " << signal);
    Words arguments = joined(longer, {"--checkpoint", state});
    if (signal == 0) arguments = joined(arguments, {"--max-seconds", "0.02"});
    RunningProgram program(2, arguments, {{"WEFT_TERMINAL", "1"}});
    if (signal != 0) {
      CHECK(program.wait_for_errors_with("iteration ", patience));
      CHECK(program.signal_rank(1, signal));
    }
    const auto ended = program.wait(patience);
    INFO(ended.errors << ended.output);
    CHECK(ended.exit_code == (signal == 0 ? 6 : 128 + signal));
    CHECK_THAT(ended.output, Catch::Contains(signal == 0 ? "out" : "stopped after "));
    CHECK_THAT(ended.output, Catch::Contains("checkpoint   1 written to " + state));
    const auto rest = run_weft(
        3, joined(longer, {"--restart-from", state, "--mode", "vector", "--solution", solution}));
    INFO(rest.errors << rest.output);
    CHECK(rest.exit_code == 0);
    CHECK_THAT(rest.output, Catch::Contains("restart      continued after "));
    CHECK(read_file(solution) == expected);
    fs::remove(state);
  }
}

TEST_CASE("a signal or the end of the time ends a search with the pairs that have converged") {
  const ScratchFolder folder;
  const Words search{"eigen",       "poisson3d:60", "--count",   "60",
                     "--tolerance", "1e-13",        "--threads", "1"};
  const std::string state = folder.path("state");
  for (const bool has_checkpoint : {false, true})
    for (const int signal : {SIGTERM, SIGINT, 0}) {
      INFO("signal " << signal << ", checkpoint " << has_checkpoint);
      Words arguments = search;
      if (signal == 0) arguments = joined(arguments, {"--max-seconds", "0.5"});
      if (has_checkpoint) arguments = joined(arguments, {"--checkpoint", state});
      RunningProgram program(2, arguments);
      if (signal != 0) {
        std::this_thread::sleep_for(std::chrono::seconds(2));
        CHECK(program.signal_rank(1, signal));
      }
      const auto ended = program.wait(patience);
      INFO(ended.errors << ended.output);
      CHECK(ended.exit_code == (signal == 0 ? 6 : 128 + signal));
      CHECK_THAT(ended.output,
                 Catch::Contains(signal == 0 ? "max-seconds: 0.5 s are over; " : "by signal "));
      CHECK_THAT(ended.output, Catch::Contains(" of 60 pairs are within the tolerance"));
      CHECK(fs::exists(state) == has_checkpoint);
      fs::remove(state);
    }
}

TEST_CASE("the launcher waits for the checkpoint, and says which signal has ended the job") {
  const ScratchFolder folder;
  const std::string state = folder.path("state");
  const std::string line =
      "WEFT_TERMINAL=1 tools/launch mpiexec.mpich -n 2 tools/weft solve poisson3d:64 --threads 1 "
      "--tolerance 1e-300 --max-iterations 100000000 --checkpoint " +
      state + " >" + folder.path("out") + " 2>" + folder.path("errors") +
      " & p=$!; for i in $(seq 600); do grep -q 'iteration ' " + folder.path("errors") +
      " && break; sleep 0.1; done; kill -TERM $p; wait $p";
  const int status = std::system(line.c_str());
  INFO(read_file(folder.path("errors")) << read_file(folder.path("out")));
  CHECK(WEXITSTATUS(status) == 143);
  CHECK(fs::exists(state));
  CHECK_THAT(read_file(folder.path("out")), Catch::Contains("checkpoint   1 written"));
  CHECK_THAT(read_file(folder.path("errors")),
             Catch::Contains("weft: the job was ended by SIGTERM"));
}
