// weft simulate and weft study scale as whole programs.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

}  // namespace

TEST_CASE("weft simulate jacobi reports the same runs for the same seed") {
  const std::vector<std::string> command{"simulate",    "jacobi", "--simulated-ranks", "27",
                                         "--tolerance", "1e-2",   "--threads",         "1",
                                         "--json",      "-"};
  const auto first = run_weft(1, command);
  const auto second = run_weft(1, command);
  CHECK(first.exit_code == 0);
  const json runs = report_of(first)["simulation"]["runs"];
  const json again = report_of(second)["simulation"]["runs"];
  CHECK(runs.size() == 3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i]["hash"] == again[i]["hash"]);
    CHECK(runs[i]["status"] == "converged");
    CHECK(runs[i]["relative_residual"].get<double>() <= 1e-2);
  }
}

TEST_CASE("weft simulate cg and spmv report every method and mode with the same values") {
  for (const auto& [command, method_count] :
       std::vector<std::pair<std::string, std::size_t>>{{"cg", 3}, {"spmv", 1}}) {
    const auto result =
        run_weft(1, {"simulate", command, "--simulated-ranks", "12", "--machine", "odin",
                     "--max-iterations", "20", "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 0);
    const json runs = report_of(result)["simulation"]["runs"];
    CHECK(runs.size() == 3 * method_count);
    for (std::size_t i = 0; i < runs.size(); ++i)
      CHECK(runs[i]["value_hash"] == runs[i / 3 * 3]["value_hash"]);
    CHECK(runs[0]["mode"] == "vector");
    CHECK(runs[2]["mode"] == "task");
  }
}

TEST_CASE("weft simulate eigen repeats the steps of a real search on each number of ranks") {
  const std::vector<std::string> command{"simulate",
                                         "eigen",
                                         "anderson3d:12,W=8",
                                         "--real-problem",
                                         "anderson3d:9,W=8",
                                         "--count",
                                         "4",
                                         "--modes",
                                         "vector,task",
                                         "--simulated-ranks",
                                         "1,8,64",
                                         "--machine",
                                         "odin",
                                         "--threads",
                                         "1",
                                         "--json",
                                         "-"};
  const auto result = run_weft(1, command);
  CHECK(result.exit_code == 0);
  const json simulation = report_of(result)["simulation"];
  CHECK(simulation["rows"] == 1728);
  CHECK(simulation["search"]["rows"] == 729);
  const json runs = simulation["runs"];
  CHECK(runs.size() == 6);
  for (const json& run : runs) {
    CHECK(run["products"] == simulation["search"]["products"]);
    CHECK(run["restarts"] == simulation["search"]["restarts"]);
    CHECK(run["restart_seconds"].size() == run["restarts"].get<std::size_t>() + 2);
  }
  CHECK(runs[0]["halo_messages"] == 0);
  CHECK(runs[0]["speedup"] == 1);
  CHECK(runs[3]["efficiency"].get<double>() < 1);
  CHECK(runs[5]["most_bytes"].get<double>() < runs[1]["most_bytes"].get<double>());
  const json again = report_of(run_weft(1, command))["simulation"]["runs"];
  for (std::size_t i = 0; i < runs.size(); ++i) CHECK(runs[i]["seconds"] == again[i]["seconds"]);
}

TEST_CASE("weft simulate eigen takes the rows of a file as those of the problem in it") {
  const ScratchFolder folder;
  const std::string file = folder.path("a.npz");
  CHECK(run_weft(1, {"generate", "anderson3d:9,W=8", file}).exit_code == 0);
  std::vector<json> runs;
  for (const std::string& problem : {std::string("anderson3d:9,W=8"), file}) {
    const json simulation =
        report_of(run_weft(1, {"simulate", "eigen", problem, "--simulated-ranks", "1,8",
                               "--threads", "1", "--json", "-"}))["simulation"];
    CHECK(simulation["rows"] == 729);
    for (json run : simulation["runs"]) {
      run.erase("wall_seconds");
      runs.push_back(run);
    }
  }
  CHECK(runs.size() == 4);
  CHECK(runs[0] == runs[2]);
  CHECK(runs[1] == runs[3]);
}

TEST_CASE("weft simulate eigen refuses what it does not simulate in one line, with exit code 2") {
  for (const auto& [options, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"poisson3d:9", "--which", "near:1"}, "expected smallest or largest"},
           {{"poisson3d:9", "--which", "both", "--count", "2"}, "expected smallest or largest"},
           {{"poisson2d:9"}, "found 81 rows, which are solved whole"},
           {{"poisson3d:9", "--simulated-ranks", "0"}, "--simulated-ranks"},
           {{"poisson3d:9", "--count", "700"}, "--count: found 700"},
           {{"convection3d:9,1,0,0"}, "symmetric"},
           {{"a.mtx", "--real-problem", "poisson3d:9"}, "a.mtx: found a file"}}) {
    std::vector<std::string> command{"simulate", "eigen"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--threads", "1"});
    const auto result = run_weft(1, command);
    INFO(result.errors);
    CHECK(result.exit_code == 2);
    CHECK(result.errors.find("weft: ") == 0);
    CHECK(result.errors.find(message) != std::string::npos);
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
  }
}

TEST_CASE("weft simulate jacobi --advise names settings, their rivals and from where they pay") {
  const auto result =
      run_weft(1, {"simulate", "jacobi", "--simulated-ranks", "32", "--tolerance", "1e-2", "--slow",
                   "3:5", "--advise", "--seeds", "2", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json advice = report_of(result)["advice"];
  CHECK(advice["trials"].size() == 17);
  CHECK(advice["best"]["transport"] == "two-sided");
  CHECK(advice["best"]["variant"] != "sync");
  CHECK(advice["seeds_won"] == 2);
  CHECK(advice["async_pays_from"] == 8);
  CHECK(advice["scaling"].size() == 2);
}

TEST_CASE("weft study scale names the published rows beside the simulated ones") {
  const auto result = run_weft(1, {"study", "scale", "--simulated-ranks", "8,32", "--tolerance",
                                   "1e-2", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json runs = report_of(result)["study"]["runs"];
  CHECK(runs.size() == 6);
  CHECK(runs[0]["published"].is_null());
  CHECK(runs[4]["published"]["source"] == "Bethune et al. 2012, table 1, 32 processes, async");
  CHECK(runs[4]["published"]["seconds"].get<double>() == 33.8);
}

TEST_CASE("weft simulate jacobi takes a transport") {
  for (const std::string transport : {"one-sided:flush", "shmem"}) {
    const auto result =
        run_weft(1, {"simulate", "jacobi", "--simulated-ranks", "8", "--variants", "async",
                     "--transport", transport, "--tolerance", "1e-2", "--json", "-"});
    CHECK(result.exit_code == 0);
    CHECK(report_of(result)["simulation"]["transport"] == transport);
  }
}

TEST_CASE("weft study scale names the published table of its transport") {
  const auto study = run_weft(1, {"study", "scale", "--simulated-ranks", "32", "--tolerance",
                                  "1e-2", "--transport", "shmem", "--threads", "1", "--json", "-"});
  CHECK(study.exit_code == 0);
  const json runs = report_of(study)["study"]["runs"];
  CHECK(runs[1]["published"]["source"] == "Bethune et al. 2012, table 2, 32 processes, async");
  CHECK(runs[1]["published"]["seconds"].get<double>() == 26.7);
}

TEST_CASE("weft study scale-cg shows the gain of overlapped halos beside the published one") {
  const auto result = run_weft(1, {"study", "scale-cg", "--nodes", "4,16", "--machines",
                                   "odin-gigabit", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json study = report_of(result)["study"];
  CHECK(study["runs"].size() == 2);
  CHECK(study["runs"][1]["simulated_ranks"] == 32);
  CHECK(study["runs"][1]["gain"].get<double>() > 0);
  CHECK(study["largest_gain"].get<double>() >= study["runs"][0]["gain"].get<double>());
  CHECK(study["published"]["largest_gain"].get<double>() == 0.34);
}

TEST_CASE("simulations refuse several ranks and wrong numbers in one line, with exit code 2") {
  for (const auto& [ranks, options] : std::vector<std::pair<int, std::vector<std::string>>>{
           {2, {}},
           {1, {"--machine", "nowhere"}},
           {1, {"--slow", "3"}},
           {1, {"--slow", "99:2"}},
           {1, {"--transport", "shared"}},
           {1, {"--progress", "/nonexistent.json"}}}) {
    std::vector<std::string> command{"simulate", "jacobi",    "--simulated-ranks",
                                     "8",        "--threads", "1"};
    command.insert(command.end(), options.begin(), options.end());
    const auto result = run_weft(ranks, command);
    INFO(result.errors);
    CHECK(result.exit_code == 2);
    CHECK(result.errors.find("weft: ") == 0);
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
  }
}

TEST_CASE("weft simulate schwarz converges on every tile, and its study has published values") {
  const auto result = run_weft(1, {"simulate", "schwarz", "--subdomains", "3", "--real-points", "6",
                                   "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json runs = report_of(result)["simulation"]["runs"];
  CHECK(runs.size() == 2);
  for (const json& run : runs) CHECK(run["status"] == "converged");
  const auto study = run_weft(1, {"study", "scale-schwarz", "--subdomains", "12", "--real-points",
                                  "4", "--tolerance", "1e-3", "--threads", "1", "--json", "-"});
  CHECK(study.exit_code == 0);
  const json columns = report_of(study)["study"]["runs"];
  CHECK(columns.size() == 2);
  CHECK(columns[0]["published"]["sync_iterations"] == 105);
  CHECK(columns[1]["points"] == 120);
}
