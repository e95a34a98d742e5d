#include "perfmodel/roofline.h"

#include <catch2/catch.hpp>

namespace {

using weft::perfmodel::BandwidthRoof;
using weft::perfmodel::Evidence;
using weft::perfmodel::judge;
using weft::perfmodel::Judgement;
using weft::perfmodel::Limit;
using weft::perfmodel::Roofs;

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

TEST_CASE("a reason that accounts for too little is none") {
  Evidence evidence = slow_kernel();
  evidence.balance = 0.9;
  evidence.reload_seconds = 1.2;
  evidence.core_seconds = 0.1;
  CHECK_THAT(judge(evidence, 0.9).reason, Catch::Contains("nothing that was measured"));
}
