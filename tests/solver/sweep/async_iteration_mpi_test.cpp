#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "tests/solver/sweep/chain_sweeper.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"
#include "tests/support/transport_names.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::Delivery;
using comm_thread::DetectorKind;
using comm_thread::ThreadLevel;
using tests::Chain;
using tests::ChainSweeper;

constexpr double tolerance = 1e-6;
constexpr Chain quick{.coupling = 0.125};  // converges in about ten sweeps
constexpr std::array<DetectorKind, 4> all_detectors{
    DetectorKind::flags, DetectorKind::residual, DetectorKind::all_reduce, DetectorKind::snapshot};

/// Values of the histogram times how often each occurred.
std::int64_t sum_of(const Histogram& histogram) {
  std::int64_t sum = 0;
  for (const auto& [value, count] : histogram) sum += value * static_cast<std::int64_t>(count);
  return sum;
}

std::uint64_t count_of(const Histogram& histogram) {
  std::uint64_t count = 0;
  for (const auto& entry : histogram) count += entry.second;
  return count;
}

/// A chain on the ranks and threads of this run.
class System {
 public:
  explicit System(const Chain& chain, ThreadLevel level = tests::session().thread_level())
      : world_(Communicator::collective_world()),
        team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = level}),
        sweeper_(world_, team_, chain),
        b_norm_(tests::norm_of_b(chain)) {}

  const Communicator& world() const { return world_; }
  const ChainSweeper& sweeper() const { return sweeper_; }
  std::uint64_t neighbour_count() const { return sweeper_.neighbours().size(); }

  AsyncIteration make(const AsyncIteration::Options& options) {
    return AsyncIteration(world_, comm_thread_, sweeper_, options);
  }

  double b_norm() const { return b_norm_; }

  /// One run, and what must hold after every one.
  IterationReport run(const AsyncIteration::Options& options) {
    const std::int64_t swept = sweeper_.finished_count();
    const IterationReport report = make(options).run(b_norm_);
    CHECK(sweeper_.finished_count() - swept == report.iterations);
    check_residual(report);
    check_detection(report);
    check_counts(report, options.halo_period);
    return report;
  }

 private:
  /// The synchronous iteration, which is tested by itself, finds the same residual.
  void check_residual(const IterationReport& report) {
    const double true_residual =
        SyncIteration(world_, comm_thread_, sweeper_, {.max_iterations = 0})
            .run(b_norm_)
            .relative_residual;
    if (std::isfinite(true_residual)) CHECK(report.relative_residual == true_residual);
    const auto status = static_cast<std::int64_t>(report.status);
    CHECK(world_.min(status) == world_.max(status));
    CHECK((report.status == SolveStatus::converged) == (report.relative_residual <= tolerance));
    CHECK_FALSE(report.history.empty());
    CHECK(report.history.size() <= 64);
    CHECK(std::ranges::is_sorted(report.history, {}, &HistoryPoint::seconds));
    if (std::isfinite(true_residual))
      CHECK(report.history.back().residual == report.relative_residual);
  }

  static void check_detection(const IterationReport& report) {
    CHECK(report.detection.has_value());
    CHECK(report.detection->has_converged == (report.status == SolveStatus::converged));
    CHECK(report.detection->fired_count >= 1);
  }

  void check_counts(const IterationReport& report, int halo_period) const {
    const auto iterations = static_cast<std::uint64_t>(report.iterations);
    CHECK(count_of(report.staleness) == neighbour_count() * iterations);
    CHECK(sum_of(report.batches) <= static_cast<std::int64_t>(report.received_count));
    CHECK(count_of(report.batches) <= report.received_count);
    CHECK(world_.sum(static_cast<std::int64_t>(report.sent_count)) ==
          world_.sum(static_cast<std::int64_t>(report.received_count)));
    CHECK(report.halo_period >= 1);
    if (halo_period == AsyncIteration::automatic_halo_period) return;
    // After the last sweep nothing is sent.
    CHECK(report.sent_count + report.skipped_count ==
          neighbour_count() * ((iterations - 1) / static_cast<std::uint64_t>(halo_period)));
    CHECK(report.halo_period == halo_period);
  }

  Communicator world_;
  ComputeTeam team_;
  CommThread comm_thread_;
  ChainSweeper sweeper_;
  double b_norm_;
};

void check_solution(const System& system, const Chain& chain) {
  const auto reference = tests::sweep_serially(chain, 1e-13, 10000, 10).values;
  const auto& values = system.sweeper().values();
  const auto own =
      comm_thread::share_of(chain.point_count, system.world().rank(), system.world().size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    worst =
        std::max(worst, std::abs(values[i] - reference[static_cast<std::size_t>(own.begin) + i]));
  CHECK(worst < 1e-4);
}

void converge_over(const char* transport, Delivery delivery, DetectorKind detector,
                   ThreadLevel level) {
  CAPTURE(transport, static_cast<int>(delivery), name(detector), static_cast<int>(level));
  System system(quick, level);
  const IterationReport report = system.run({.delivery = delivery,
                                             .transport = comm_thread::transport_choice(transport),
                                             .max_in_flight = 3,
                                             .contribution_period = 4,
                                             .detector = detector,
                                             .tolerance = tolerance});
  CHECK(report.status == SolveStatus::converged);
  check_solution(system, quick);
}

TEST_CASE("over every transport, with either delivery, every detector ends at the solution") {
  const int rank_count = Communicator::collective_world().size();
  int turn = 0;
  for (const std::string& transport : tests::transport_names())
    for (const Delivery delivery : {Delivery::async, Delivery::racy})
      for (const DetectorKind detector : all_detectors) {
        // Puts take long if the target has no core; 3 and 7 reach every detector.
        const int every = rank_count <= 2 ? 1 : rank_count <= 4 ? 3 : 7;
        if (transport.starts_with("one-sided") && turn++ % every != 0) continue;
        converge_over(transport.c_str(), delivery, detector, tests::session().thread_level());
      }
}

TEST_CASE("without a communication thread it all works, too") {
  for (const DetectorKind detector : all_detectors)
    for (const char* transport : {"two-sided", "shared"})
      converge_over(transport, Delivery::async, detector, ThreadLevel::serialized);
  converge_over("one-sided:overlap-local", Delivery::racy, DetectorKind::flags,
                ThreadLevel::serialized);
}

TEST_CASE("slow, unsteady and stalling ranks do not keep a run from converging") {
  for (const DetectorKind detector : all_detectors) {
    System system(quick);
    const int rank = system.world().rank();
    const int last = system.world().size() - 1;
    const std::vector<Fault> faults{
        {Fault::Kind::slow, last, 20}, {Fault::Kind::jitter, 0, 5}, {Fault::Kind::stall, 0, 0.01}};
    const IterationReport report = system.run({.max_in_flight = 2,
                                               .halo_period = 3,
                                               .detector = detector,
                                               .tolerance = tolerance,
                                               .disturbance = Disturbance(faults, rank)});
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.times.injected > (rank == 0 && report.iterations >= 10 ? 0.01 : 0));
    check_solution(system, quick);
  }
}

TEST_CASE("after the most iterations of any rank all end without having converged") {
  const Chain chain{.coupling = 0.5014};  // its values neither settle nor grow
  for (const DetectorKind detector : all_detectors) {
    System system(chain);
    const IterationReport report =
        system.run({.detector = detector, .tolerance = tolerance, .max_iterations = 30});
    CHECK(report.status == SolveStatus::not_converged);
    CHECK(system.world().max(report.iterations) >= 30);
    CHECK(report.detection->fired_count == 1);
  }
}

TEST_CASE("a run that diverges ends with a breakdown that is explained") {
  System system(Chain{.coupling = 5});
  const IterationReport report =
      system.run({.tolerance = tolerance, .max_iterations = 1'000'000'000'000});
  CHECK(report.status == SolveStatus::breakdown);
  CHECK_FALSE(report.explanation.empty());
  CHECK_FALSE(std::isfinite(report.relative_residual));
}

TEST_CASE("a halo period can be found while the run goes on") {
  System system(Chain{.coupling = 0.49});
  const IterationReport report =
      system.run({.halo_period = AsyncIteration::automatic_halo_period, .tolerance = tolerance});
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.halo_period <= 128);
}

TEST_CASE("contributions are made once a period, beginning with the values of the start") {
  System system(quick);
  std::vector<std::int64_t> iterations;
  std::vector<double> residuals;
  const IterationReport report = system.run({.contribution_period = 6,
                                             .tolerance = tolerance,
                                             .on_contribution = [&](std::int64_t k, double r) {
                                               iterations.push_back(k);
                                               residuals.push_back(r);
                                             }});
  REQUIRE_FALSE(iterations.empty());  // no collectives follow
  CHECK(iterations.front() == 0);
  // At the start the residual is b, unless a neighbour has swept already.
  if (system.world().size() == 1) CHECK(residuals.front() == 1);
  std::uint64_t early = 0;  // one after each verification that failed
  for (std::size_t i = 1; i < iterations.size(); ++i) {
    CHECK(iterations[i] - iterations[i - 1] <= 6);
    early += iterations[i] - iterations[i - 1] < 6;
  }
  CHECK(early <= report.detection->failed_verification_count);
  CHECK(report.iterations - iterations.back() <= 6);
}

TEST_CASE("one rank alone sweeps as a serial loop does") {
  if (Communicator::collective_world().size() > 1) return;
  for (const DetectorKind detector : all_detectors) {
    System system(quick);
    const IterationReport report = system.run({.detector = detector, .tolerance = tolerance});
    const auto reference = tests::sweep_serially(quick, 0, report.iterations, 1);
    CHECK(report.relative_residual == reference.residuals.back());
    CHECK(std::ranges::equal(system.sweeper().values(), reference.values));
    CHECK(report.detection->failed_verification_count == 0);
  }
}

TEST_CASE("an iteration can run again, and goes on from where it was") {
  System system(quick);
  AsyncIteration iteration = system.make({.tolerance = tolerance});
  const IterationReport first = iteration.run(system.b_norm());
  const IterationReport second = iteration.run(system.b_norm());
  CHECK(first.status == SolveStatus::converged);
  CHECK(second.status == SolveStatus::converged);
  CHECK(system.sweeper().finished_count() == first.iterations + second.iterations);
  CHECK(second.history.front().residual <= tolerance);
  check_solution(system, quick);
}

TEST_CASE("options out of range are refused") {
  System system(quick);
  CHECK_THROWS_AS(system.make({.halo_period = -1}), comm_thread::InputError);
  CHECK_THROWS_AS(system.make({.contribution_period = 0}), comm_thread::InputError);
  CHECK_THROWS_AS(system.make({.max_iterations = -1}), comm_thread::InputError);
  // A rank without channels cannot have one that is too small, but gets the error too.
  AsyncIteration iteration = system.make({.max_in_flight = 0});
  if (system.world().size() > 1)
    CHECK_THROWS_AS(iteration.run(system.b_norm()), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
