// LIKWID counts every phase of every Krylov method as a region of its own.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/methods/method_table.h"
#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

}  // namespace

TEST_CASE("vector updates and reductions are regions in every method and with every kind of M") {
  const ScratchFolder folder;
  std::filesystem::copy_file("tests/perfmodel/libfake_likwid.so", folder.path("liblikwid.so.5.2"));
  const std::filesystem::path library = folder.path("liblikwid.so.5.2");
  const weft::tests::Environment environment{
      {"LIKWID_MODE", "1"},
      {"LIKWID_EVENTS", "INSTR_RETIRED_ANY:FIXC0,CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX0C1"},
      {"LD_LIBRARY_PATH", library.parent_path().string()}};
  for (const weft::solver::KrylovEntry& method : weft::solver::krylov_methods())
    for (const std::string what : {"none", "jacobi", "schwarz", "stencil"}) {
      if (method.needs_grid && what != "stencil") continue;
      INFO(method.name << " with " << what);
      std::vector<std::string> arguments{
          "solve", "poisson2d:20", "--method", method.name, "--threads", "1", "--json", "-"};
      if (what == "stencil")
        arguments.insert(arguments.end(), {"--operator", "stencil"});
      else
        arguments.insert(arguments.end(), {"--preconditioner", what});
      const auto result = run_weft(2, arguments, environment);
      CHECK(result.exit_code == 0);
      const auto report = report_of(result);
      std::map<std::string, int> calls;
      for (const auto& region : report["counters"]["regions"])
        calls[region.value("name", "")] = region.value("calls", 0);
      const int iterations = report.value("iterations", 0);
      CHECK(iterations > 0);
      for (const char* const phase : {"local_part", "vector_update", "reduction"}) {
        // Multigrid updates vectors inside its passes.
        if (method.needs_grid && phase == std::string("vector_update")) continue;
        INFO(phase << ": " << calls[phase] << " calls in " << iterations << " iterations");
        CHECK(calls[phase] >= iterations);
      }
    }
}
