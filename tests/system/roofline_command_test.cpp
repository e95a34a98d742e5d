// weft roofline as a whole program.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// As little as possible: no times are looked at.
std::vector<std::string> quickly(std::vector<std::string> arguments) {
  const std::vector<std::string> rest{
      "--threads", "1", "--repetitions", "1", "--array-size", "8", "--no-likwid", "--json", "-"};
  arguments.insert(arguments.begin(), "roofline");
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

std::map<std::string, json> kernels_of(const json& report) {
  std::map<std::string, json> kernels;
  for (const json& kernel : report["kernels"]) kernels[kernel.value("name", "")] = kernel;
  return kernels;
}

}  // namespace

TEST_CASE("every kernel has its traffic by the model and a verdict") {
  const auto result = run_weft(1, quickly({"poisson3d:16"}));
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  auto kernels = kernels_of(report);
  for (const char* const name :
       {"crs-local", "stored-local", "dot", "norm", "cg-residual", "cg-direction",
        "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr", "grid-product", "grid-cg-pass",
        "grid-cg-direction", "grid-cg-residual", "sweep", "sweep-residual", "multigrid-down",
        "multigrid-up"}) {
    INFO(name);
    CHECK(kernels.contains(name));
    CHECK(kernels[name].value("model_bytes", 0.0) > 0);
    CHECK(kernels[name].value("seconds", 0.0) > 0);
    CHECK(kernels[name].value("verdict", "") == "in cache");
  }
  const double rows = 4096;
  const double nonzeros = 7 * rows - 6 * 256;
  CHECK(kernels["crs-local"].value("model_bytes", 0.0) == 12 * nonzeros + 32 * rows);
  CHECK(kernels["crs-local"].value("model_flops", 0.0) == 2 * nonzeros);
  CHECK(kernels["cg-residual"].value("model_bytes", 0.0) == 24 * rows);
  CHECK(kernels["cg-direction"].value("model_bytes", 0.0) == 40 * rows);
  CHECK(kernels["sweep"].value("model_bytes", 0.0) == 24 * rows);
  CHECK(kernels["multigrid-down"].value("model_bytes", 0.0) == 25 * rows);
  CHECK(kernels["multigrid-up"].value("model_bytes", 0.0) == 28.5 * rows);
  CHECK(kernels["crs-local"]["kappa"].value("simulated", -1.0) == 0);
  for (const int width : {2, 4, 8, 16}) {
    const auto block = kernels["block-" + std::to_string(width)];
    CHECK(block.value("model_bytes", 0.0) == 12 * nonzeros + (8 + 24 * width) * rows);
    CHECK(block.value("model_flops", 0.0) == 2 * width * nonzeros);
    CHECK(block.value("width", 0) == width);
    CHECK(block.value("fraction_with_reload", 0.0) >= 0.999 * block.value("fraction", 1.0));
  }
  CHECK_THAT(report.value("blocks", ""), Catch::StartsWith("blocks of "));
  CHECK(report["bandwidth"]["all"].size() == 8);
}

TEST_CASE("two ranks have boundary rows and the same traffic together") {
  const auto result = run_weft(2, quickly({"poisson3d:8", "--kernels", "crs,pack"}));
  CHECK(result.exit_code == 0);
  auto kernels = kernels_of(report_of(result));
  CHECK(kernels.size() == 3);
  const double nonzeros = 7 * 512 - 6 * 64;
  CHECK(kernels["crs-local"].value("model_flops", 0.0) +
            kernels["crs-boundary"].value("model_flops", 0.0) ==
        2 * nonzeros);
  CHECK(kernels["crs-boundary"].value("model_flops", 0.0) == 2 * 2 * (7 * 64 - 4 * 8));
  CHECK(kernels["pack"].value("model_bytes", 0.0) == 2 * 64 * 32);
}

TEST_CASE("a problem without a grid has the kernels of matrices and vectors") {
  const auto result = run_weft(1, quickly({"irregular:500,nnzr=7,bandwidth=100,seed=2"}));
  CHECK(result.exit_code == 0);
  auto kernels = kernels_of(report_of(result));
  CHECK(kernels.contains("crs-local"));
  CHECK(kernels.contains("dot"));
  CHECK_FALSE(kernels.contains("sweep"));
}

TEST_CASE("what is below the requirement ends with exit code 4, but not what is in cache") {
  const auto small = run_weft(1, quickly({"poisson3d:8", "--require", "9"}));
  CHECK(small.exit_code == 0);
  const auto large = run_weft(1, quickly({"poisson3d:90", "--require", "9", "--kernels", "crs"}));
  const json report = report_of(large);
  const bool is_in_memory = report["kernels"][0].value("verdict", "") == "below model";
  CHECK(report["below_requirement"].size() == (is_in_memory ? 1 : 0));
  CHECK(large.exit_code == (is_in_memory ? 4 : 0));
}

TEST_CASE("an unknown kernel is bad input") {
  const auto result = run_weft(2, quickly({"poisson3d:8", "--kernels", "crs,fft"}));
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.errors, Catch::Contains("--kernels: found 'fft'; expected one of crs-local"));
}

TEST_CASE("memory counters give kappa, and a thread that counts nothing is an error") {
  const ScratchFolder folder;
  std::filesystem::copy_file("tests/perfmodel/libfake_likwid.so", folder.path("liblikwid.so.5.2"));
  const std::filesystem::path library = folder.path("liblikwid.so.5.2");
  const std::string found = library.parent_path().string();
  const weft::tests::Environment environment{
      {"LIKWID_MODE", "1"},
      {"LIKWID_EVENTS", "INSTR_RETIRED_ANY:FIXC0,CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX0C1"},
      {"LD_LIBRARY_PATH", found}};
  const auto arguments = quickly({"poisson3d:8", "--kernels", "crs"});
  const auto good = run_weft(1, arguments, environment);
  CHECK(good.exit_code == 0);
  const json report = report_of(good);
  CHECK(report["counters"]["missing"].is_null());
  const json region = report["counters"]["regions"][0];
  CHECK(region.value("name", "") == "crs-local");
  CHECK(region.value("calls", 0) == 2);
  CHECK(region.value("memory_bytes", 0.0) == 2 * 2 * 64 * 64);
  const json kernel = report["kernels"][0];
  CHECK(kernel["kappa"].value("source", "") == "memory counters");
  const double nonzeros = 7 * 512 - 6 * 64;
  CHECK(kernel["kappa"].value("counted", 0.0) ==
        Approx((2 * 64 * 64 - kernel.value("model_bytes", 0.0)) / nonzeros));

  auto broken = environment;
  broken["FAKE_LIKWID_COUNTS"] = "no";
  const auto bad = run_weft(1, arguments, broken);
  CHECK(bad.exit_code == 1);
  CHECK_THAT(bad.errors,
             Catch::Contains("region crs-local: no event was counted by rank 0 thread 0"));
}

TEST_CASE("where there are no counters the report says why and goes on") {
  const auto result = run_weft(1, quickly({"poisson3d:8", "--kernels", "crs"}));
  CHECK(result.exit_code == 0);
  CHECK(report_of(result)["counters"]["missing"].is_string());
}
