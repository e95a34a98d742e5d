// Tests of tools/lab: ranks that are killed or stopped, links that are cut, slow or lose frames.
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/lab/lab.h"
#include "tests/system/program_run.h"

using weft::tests::becomes_true;
using weft::tests::can_make_hosts;
using weft::tests::Lab;
using weft::tests::processes_with;
using weft::tests::read_file;
using weft::tests::run_shell;
using weft::tests::ScratchFolder;
using weft::tests::start;
using weft::tests::tools_folder;

namespace fs = std::filesystem;

TEST_CASE("a run that is ended in whatever way leaves no process on any host") {
  if (!can_make_hosts()) return;
  const Lab lab;
  CHECK(lab.run("up --nodes 2").exit_code == 0);
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    INFO("signal " << signal);
    const std::string marker = "100000" + std::to_string(signal);
    const pid_t run =
        start(lab.line("run --threads 1 -- solve poisson3d:100 --tolerance 1e-300 "
                       "--max-iterations " +
                       marker));
    const std::string rank = "poisson3d:100" + std::string(1, '\0') + "--tolerance";
    CHECK(becomes_true([&] {
      const auto found = processes_with(tools_folder() + "/weft" + '\0' + "solve" + '\0' + rank);
      return found.size() >= 2;
    }));
    kill(run, signal);
    CHECK(waitpid(run, nullptr, 0) == run);
    CHECK(becomes_true([&] { return processes_with(marker).empty(); }));
  }
  CHECK(lab.run("status").exit_code == 0);
}

TEST_CASE("a cut link and a stopped rank delay a run and change no bit; a killed rank ends it") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const ScratchFolder folder;
  const auto up = lab.run("up --nodes 2");
  INFO(up.errors);
  REQUIRE(up.exit_code == 0);
  const std::string solve =
      "run --threads 1 -- solve poisson3d:40 --tolerance 1e-300 --max-iterations 1500 --solution ";
  CHECK(lab.run(solve + folder.path("expected.npy")).exit_code == 3);
  const std::string expected = read_file(folder.path("expected.npy"));
  CHECK_FALSE(expected.empty());
  for (const std::string fault : {"cut n1 2", "slow n1 50mbit 1", "stop n0 1"}) {
    INFO(fault);
    const auto run = run_shell(lab.line(solve + folder.path("x.npy")) + " & sleep 1; " +
                               lab.line("fault " + fault) + "; wait $!");
    INFO(run.errors);
    CHECK(run.exit_code == 3);
    CHECK(read_file(folder.path("x.npy")) == expected);
    fs::remove(folder.path("x.npy"));
  }
  const std::string endless =
      "run --threads 1 -- solve poisson3d:40 --tolerance 1e-300 --max-iterations 100000000";
  const auto killed =
      run_shell(lab.line(endless) + " & job=$!; until " + lab.line("fault kill n1 1") +
                " 2>/dev/null; do sleep 0.2; done; " + "wait $job");
  CHECK(killed.exit_code == 5);
  CHECK(killed.errors.find("rank 1 was lost") != std::string::npos);
  CHECK(killed.errors.find("on n1") != std::string::npos);
  const auto cut_off = run_shell(lab.line(endless + " --give-up-after 3") + " & job=$!; sleep 2; " +
                                 lab.line("fault cut n1") + "; wait $job");
  INFO(cut_off.errors);
  CHECK(cut_off.exit_code == 5);
  CHECK(cut_off.errors.find("weft: rank 1 on n1 (process ") != std::string::npos);
  CHECK(cut_off.errors.find("has given no sign of life for 3 s") != std::string::npos);
  for (const auto& [fault, why] : std::vector<std::pair<std::string, std::string>>{
           {"kill n0", "there is no rank of weft on n0"},
           {"cut n2", "there is no host 'n2'"},
           {"melt n0", "unknown kind 'melt'"},
           {"slow n0 fast", "found 'fast'"},
           {"lose n0 all", "found 'all'"}}) {
    const auto refused = lab.run("fault " + fault);
    INFO(fault << ": " << refused.errors);
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find(why) != std::string::npos);
  }
}

TEST_CASE("a delay line loses as many frames as is asked for, and none when it is healed") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const auto up = lab.run("up --nodes 2 --latency 100us");
  INFO(up.errors);
  REQUIRE(up.exit_code == 0);
  const ScratchFolder folder;
  const std::string receive = folder.write("receive",
                                           "import socket\n"
                                           "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                           "s.bind(('', 4711))\n"
                                           "open('" +
                                               folder.path("ready") +
                                               "', 'w').close()\n"
                                               "count = 0\n"
                                               "while s.recv(16) != b'end':\n"
                                               "    count += 1\n"
                                               "print(count)\n");
  const std::string send = folder.write("send",
                                        "import socket, time\n"
                                        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                        "for i in range(600):\n"
                                        "    s.sendto(b'x' if i < 400 else b'end', ('n1', 4711))\n"
                                        "    time.sleep(0.0005)\n");
  const auto received = [&] {
    fs::remove(folder.path("ready"));
    const auto run = run_shell(lab.line("exec n1 -- python3 " + receive) + " & until [[ -e " +
                               folder.path("ready") + " ]]; do sleep 0.01; done; " +
                               lab.line("exec n0 -- python3 " + send) + "; wait $!");
    INFO(run.errors);
    CHECK(run.exit_code == 0);
    return std::atoi(run.output.c_str());
  };
  CHECK(received() == 400);
  CHECK(lab.run("fault lose n1 50").exit_code == 0);
  const int left = received();
  CHECK(left > 130);
  CHECK(left < 270);
  CHECK(lab.run("fault heal n1").exit_code == 0);
  CHECK(received() == 400);
}
