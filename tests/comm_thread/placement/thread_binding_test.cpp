#include "comm_thread/placement/thread_binding.h"

#include <optional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

using Pus = std::vector<unsigned>;

TEST_CASE("a thread pinned to a permitted PU is found there") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  for (const unsigned pu : permitted_pus_of_this_process(machine)) {
    std::optional<PlacementFinding> trouble;
    Pus binding;
    std::optional<unsigned> last;
    std::thread([&] {
      trouble = bind_this_thread(machine, pu);
      binding = binding_of_this_thread(machine);
      last = last_cpu_of_this_thread(machine);
    }).join();
    CHECK_FALSE(trouble.has_value());
    CHECK(binding == Pus{pu});
    CHECK(last == pu);
  }
}

TEST_CASE("a PU that does not exist is a finding and nothing worse") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  std::optional<PlacementFinding> trouble;
  std::thread([&] { trouble = bind_this_thread(machine, 100000); }).join();
  CHECK(trouble.has_value());
  CHECK(trouble->severity == FindingSeverity::warning);
  CHECK(trouble->text.find("cannot pin a thread to PU 100000: ") == 0);
}

TEST_CASE("permitted PUs are found beyond the present binding, which is left as it was") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  Pus permitted_before, permitted_pinned, binding_after;
  std::thread([&] {
    permitted_before = permitted_pus_of_this_process(machine);
    static_cast<void>(bind_this_thread(machine, permitted_before.front()));
    permitted_pinned = permitted_pus_of_this_process(machine);
    binding_after = binding_of_this_thread(machine);
  }).join();
  CHECK(permitted_pinned == permitted_before);
  CHECK(binding_after == Pus{permitted_before.front()});
}

TEST_CASE("on a machine that is not this one nothing is pinned, and that is said") {
  const Topology machine = Topology::from_synthetic("core:2 pu:1");
  CHECK(bind_this_thread(machine, 0)->severity == FindingSeverity::note);
  CHECK(binding_of_this_thread(machine).empty());
  CHECK_FALSE(last_cpu_of_this_thread(machine).has_value());
  CHECK(permitted_pus_of_this_process(machine) == Pus{0, 1});
}

}  // namespace
}  // namespace weft::comm_thread
