#include "comm_thread/placement/audit.h"

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/thread_binding.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("threads that are where they were planned give no findings") {
  const Topology machine = Topology::from_synthetic("core:2 pu:1");
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {0, 1, 1, {1}, 1}, {0, -1, 1, {1}, 1}};
  CHECK(audit(machine, threads).empty());
  CHECK(audit(machine, {}).empty());
}

TEST_CASE("the audit names a thread that is not pinned, elsewhere, or was seen elsewhere") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const auto only_finding = [&](const ThreadAudit& thread) {
    const std::vector<PlacementFinding> findings = audit(machine, std::vector{thread});
    CHECK(findings.size() == 1);
    return findings.empty() ? std::string() : findings.front().text;
  };
  CHECK(only_finding({2, 1, 0, {0, 1, 2}, 2}) ==
        "rank 2 compute thread 1 is not pinned: may run on PUs 0-2, planned for PU 0");
  CHECK(only_finding({0, -1, 3, {2}, 2}) ==
        "rank 0 communication thread is pinned to PU 2, planned for PU 3");
  CHECK(only_finding({0, 0, 3, {3}, 1}) == "rank 0 compute thread 0 ran on PU 1, planned for PU 3");
  CHECK(only_finding({0, 0, 3, {}, std::nullopt}) ==
        "where the threads run cannot be read back here");
}

TEST_CASE("the audit finds compute threads of two ranks on one PU") {
  const Topology machine = Topology::from_synthetic("core:2 pu:1");
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {1, 0, 0, {0}, 0}};
  const std::vector<PlacementFinding> findings = audit(machine, threads);
  CHECK(findings.size() == 1);
  CHECK(findings.at(0).severity == FindingSeverity::warning);
  CHECK(findings.at(0).text ==
        "rank 0 compute thread 0 and rank 1 compute thread 0 are all on PU 0");
}

TEST_CASE("the audit finds a communication thread on the PU of a thread it should not meet") {
  const Topology machine = Topology::from_synthetic("core:2 pu:1");
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {0, -1, 1, {0}, 0}};
  CHECK(audit(machine, threads).size() == 2);
}

TEST_CASE("the audit finds all compute threads of a rank on one core") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2");
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {0, 1, 1, {1}, 1}};
  const std::vector<PlacementFinding> findings = audit(machine, threads);
  CHECK(findings.size() == 1);
  CHECK(findings.at(0).text == "rank 0: all 2 compute threads are on one core");
}

TEST_CASE("a pinned thread that reads itself back is where it was planned") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  const unsigned pu = permitted_pus_of_this_process(machine).front();
  ThreadAudit found;
  std::thread([&] {
    static_cast<void>(bind_this_thread(machine, pu));
    found = audit_this_thread(machine, 0, 0, pu);
  }).join();
  CHECK(found.binding == std::vector{pu});
  CHECK(audit(machine, std::vector{found}).empty());
}

}  // namespace
}  // namespace weft::comm_thread
