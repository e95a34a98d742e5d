#include "perfmodel/roofline.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using weft::perfmodel::BandwidthRoof;
using weft::perfmodel::Evidence;
using weft::perfmodel::judge;
using weft::perfmodel::Judgement;
using weft::perfmodel::Limit;
using weft::perfmodel::LoopShare;
using weft::perfmodel::Roofs;
using weft::perfmodel::seconds_in_turn;

/// Reads 100, half and half 50 bytes a second.
BandwidthRoof roof() { return BandwidthRoof({{0.5, 50}, {0, 100}}); }

/// Half of the model's speed, in memory.
Evidence slow_kernel() {
  return {.model_seconds = 1,
          .measured_seconds = 2,
          .fraction = 0.5,
          .data_bytes = 1000,
          .cache_bytes = 10};
}

}  // namespace

TEST_CASE("between two loops the time per byte is a straight line") {
  CHECK(roof().bytes_per_second(0) == Approx(100));
  CHECK(roof().bytes_per_second(0.25) == Approx(1 / ((0.01 + 0.02) / 2)));
  CHECK(roof().bytes_per_second(0.5) == Approx(50));
  CHECK(roof().bytes_per_second(0.9) == Approx(50));
  CHECK(roof().seconds({.read_bytes = 25, .written_bytes = 25}) == Approx(1));
}

TEST_CASE("the slowest of memory, cache and cores limits a kernel") {
  const Roofs roofs{roof(), BandwidthRoof({{0, 1000}}), 10};
  const auto by_memory = roofs.predict({.read_bytes = 200, .flops = 10}, {});
  CHECK(by_memory.seconds == Approx(2));
  CHECK(by_memory.limit == Limit::memory);
  const auto by_cache = roofs.predict({.read_bytes = 200, .flops = 10}, {.read_bytes = 3000});
  CHECK(by_cache.seconds == Approx(3));
  CHECK(by_cache.limit == Limit::cache);
  const auto by_flops = roofs.predict({.read_bytes = 200, .flops = 40}, {.read_bytes = 3000});
  CHECK(by_flops.seconds == Approx(4));
  CHECK(by_flops.limit == Limit::flops);
}

TEST_CASE("a kernel at its model is ok and one in cache is not judged") {
  Evidence evidence = slow_kernel();
  evidence.fraction = 0.95;
  CHECK(judge(evidence, 0.9).judgement == Judgement::ok);
  CHECK(judge(evidence, 0.96).judgement == Judgement::below);
  evidence.cache_bytes = 900;
  CHECK(judge(evidence, 0.96).judgement == Judgement::in_cache);
}

TEST_CASE("a slow kernel is below its model for the first reason that accounts for it") {
  Evidence evidence = slow_kernel();
  const auto reason = [&] { return judge(evidence, 0.9).reason; };
  CHECK_THAT(reason(), Catch::Contains("nothing that was measured"));
  evidence.spread = 0.3;
  CHECK_THAT(reason(), Catch::Contains("spread by 30 %"));
  evidence.core_seconds = 0.6;
  evidence.balance = 0.85;
  CHECK_THAT(reason(), Catch::Contains("unequal (slowest / mean 1.18), and 600 ms in the cores"));
  evidence.balance = 1;
  evidence.core_seconds = 0.9;
  CHECK_THAT(reason(), Catch::Contains("overlap only in part"));
  evidence.core_seconds = 1.9;
  CHECK_THAT(reason(), Catch::Contains("bound by the cores"));
  evidence.reload_seconds = 1.9;
  evidence.kappa = 2.5;
  CHECK_THAT(reason(), Catch::Contains("kappa = 2.50"));
  evidence.balance = 0.5;
  CHECK_THAT(reason(), Catch::Contains("2.00 times the mean"));
}

TEST_CASE("a kernel bound by the cores names the operations that take most of its time there") {
  Evidence evidence = slow_kernel();
  evidence.core_seconds = 1.9;
  const auto reason = [&] { return judge(evidence, 0.9).reason; };
  for (const char* const resource :
       {"loads", "stores", "additions", "multiplications", "additions and multiplications",
        "integer additions", "shuffles", "dependent additions"}) {
    INFO(resource);
    evidence.core_bounds = {{resource, "row", 14, 5.9e9, 1.6}, {"others", "row", 1, 1e9, 1.5}};
    CHECK(reason() == std::string("bound by the cores: ") + resource +
                          ", 14 per row at 5.9 G/s take 1.6e+03 of 1.9e+03 ms; model 1e+03");
  }
}

TEST_CASE("operations that take less than 0.8 of the time in cache explain nothing") {
  Evidence evidence = slow_kernel();
  evidence.core_seconds = 1.9;
  evidence.core_bounds = {{"loads", "point", 9, 3e9, 1.5}};
  CHECK_THAT(judge(evidence, 0.9).reason,
             Catch::Contains("loads, 9 per point at 3 G/s come nearest with 1.5e+03 ms, which does "
                             "not explain it"));
  evidence.core_bounds[0].seconds = 1.53;
  CHECK_THAT(judge(evidence, 0.9).reason, Catch::Contains("take 1.53e+03 of 1.9e+03 ms"));
}

TEST_CASE("operations that would take much longer than was measured are no bound") {
  Evidence evidence = slow_kernel();
  evidence.core_seconds = 1.9;
  evidence.core_bounds = {{"dependent additions", "nonzero", 1, 1e9, 2.4},
                          {"loads", "nonzero", 3, 3e9, 1.7}};
  CHECK_THAT(judge(evidence, 0.9).reason, Catch::Contains("loads, 3 per nonzero"));
  evidence.core_bounds.pop_back();
  CHECK_THAT(judge(evidence, 0.9).reason,
             Catch::Equals("bound by the cores: 1.9e+03 ms with all data in their caches, model "
                           "1e+03"));
}

TEST_CASE("time in the cores beside time in memory is named, too") {
  Evidence evidence = slow_kernel();
  evidence.core_seconds = 0.9;
  evidence.core_bounds = {{"stores", "row", 2, 4e9, 0.8}};
  CHECK_THAT(
      judge(evidence, 0.9).reason,
      Catch::Contains("900 ms in the cores (stores, 2 per row at 4 G/s) and 1e+03 in memory"));
}

TEST_CASE("loops that take turns take the longer part of each") {
  const std::vector<LoopShare> loops{{.cores = 0.5, .memory = 0.9}, {.cores = 0.5, .memory = 0.1}};
  CHECK(seconds_in_turn(loops, 1.2, 1) == Approx(0.9 + 0.6));
  CHECK(seconds_in_turn(loops, 2, 1) == Approx(1 + 1));
  CHECK(seconds_in_turn({}, 2, 1) == 0);
}

TEST_CASE("a kernel whose loops take turns is bound by them where they account for its time") {
  Evidence evidence = slow_kernel();
  evidence.core_seconds = 1.5;
  evidence.loops = {{.cores = 0.25, .memory = 1}, {.cores = 0.75, .memory = 0}};
  CHECK_THAT(judge(evidence, 0.9).reason,
             Catch::Equals("bound by its 2 loops in turn: 2.12e+03 ms by the longer part of each; "
                           "1.5e+03 ms in the cores and 1e+03 in memory"));
  evidence.loops = {{.cores = 0.6, .memory = 1}, {.cores = 0.4, .memory = 0}};
  CHECK_THAT(judge(evidence, 0.9).reason, Catch::Contains("overlap only in part"));
  evidence.core_seconds.reset();
  CHECK_THAT(judge(evidence, 0.9).reason, Catch::Contains("nothing that was measured"));
}

TEST_CASE("no kernel in memory is judged where the probes are held back") {
  Evidence evidence = slow_kernel();
  evidence.probe_fault = "slow loads";
  for (const double fraction : {0.5, 1.0}) {
    evidence.fraction = fraction;
    CHECK(judge(evidence, 0.9).judgement == Judgement::refused);
    CHECK(judge(evidence, 0.9).reason == "slow loads");
  }
  evidence.cache_bytes = 900;
  CHECK(judge(evidence, 0.9).judgement == Judgement::in_cache);
}

TEST_CASE("a reason that accounts for too little is none") {
  Evidence evidence = slow_kernel();
  evidence.balance = 0.9;
  evidence.reload_seconds = 1.2;
  evidence.core_seconds = 0.1;
  CHECK_THAT(judge(evidence, 0.9).reason,
             Catch::Contains("100 ms in the cores and") &&
                 Catch::Contains("nothing that was measured here accounts for all"));
}
