// The micro-benchmark of the communication thread's cost as a whole program.
#include <cstdio>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

/// Standard output of a run on `ranks` ranks; `exit_code`: that of the launcher.
std::string output_of(int ranks, const std::string& options, int& exit_code) {
  const std::string command =
      "OMP_WAIT_POLICY=passive MPIR_CVAR_POLLS_BEFORE_YIELD=1 "
      "mpiexec.mpich -n " +
      std::to_string(ranks) + " tools/bench/comm_thread_cost --quick " + options + " </dev/null";
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  exit_code = pclose(pipe);
  return output;
}

const std::set<std::string> all_costs{"post, for the caller",
                                      "post when the thread has parked",
                                      "post and wait, nothing to do",
                                      "thread idle, of a core",
                                      "slowdown of computation in registers",
                                      "slowdown of a memory-bound sum"};

}  // namespace

TEST_CASE("every cost is measured where the thread shares a core") {
  for (const int ranks : {1, 3}) {
    INFO(ranks << " ranks");
    int exit_code = -1;
    const auto report =
        nlohmann::json::parse(output_of(ranks, "--json -", exit_code), nullptr, false);
    CHECK(exit_code == 0);
    std::set<std::string> found;
    for (const auto& cost : report.value("costs", nlohmann::json::array())) {
      CHECK(cost["value"].is_number());
      CHECK(cost["is_met"].is_boolean());
      if (cost.value("communication_core", "") == "shared core")
        found.insert(cost.value("what", ""));
    }
    CHECK(found == all_costs);
  }
}

TEST_CASE("the table shows every cost") {
  int exit_code = -1;
  const std::string table = output_of(1, "", exit_code);
  CHECK(exit_code == 0);
  for (const std::string& cost : all_costs) {
    INFO(table);
    CHECK(table.find(cost) != std::string::npos);
  }
}
