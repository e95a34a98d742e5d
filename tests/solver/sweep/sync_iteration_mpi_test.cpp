#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/input_error.h"
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
using comm_thread::ThreadLevel;
using spmv::Mode;
using tests::Chain;
using tests::ChainReference;
using tests::ChainSweeper;

/// A chain on the ranks and threads of this run.
class System {
 public:
  explicit System(const Chain& chain, int depth = 1,
                  ThreadLevel level = tests::session().thread_level())
      : world_(Communicator::collective_world()),
        team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = level}),
        sweeper_(world_, team_, chain, depth),
        b_norm_(tests::norm_of_b(chain)) {}

  IterationReport run(const SyncIteration::Options& options) {
    return SyncIteration(world_, comm_thread_, sweeper_, options).run(b_norm_);
  }

  const Communicator& world() const { return world_; }
  const ChainSweeper& sweeper() const { return sweeper_; }

  /// True if this rank's values equal those of the whole chain to the last bit.
  bool has_values_of(const ChainReference& reference) const {
    const auto values = sweeper_.values();
    const auto own =
        comm_thread::share_of(std::ssize(reference.values), world_.rank(), world_.size());
    return std::equal(values.begin(), values.end(), reference.values.begin() + own.begin,
                      reference.values.begin() + own.end);
  }

 private:
  Communicator world_;
  ComputeTeam team_;
  CommThread comm_thread_;
  ChainSweeper sweeper_;
  double b_norm_;
};

void check_against(const ChainReference& reference, const System& system,
                   const IterationReport& report) {
  CHECK(report.iterations == reference.iterations);
  CHECK(system.sweeper().finished_count() == reference.iterations);
  CHECK(system.has_values_of(reference));
  CHECK(report.relative_residual == reference.residuals.back());
  std::vector<double> residuals;
  for (const HistoryPoint& point : report.history) residuals.push_back(point.residual);
  CHECK(residuals == reference.residuals);
  CHECK(std::ranges::is_sorted(report.history, {}, &HistoryPoint::seconds));
}

TEST_CASE("every mode and depth of halo gives the iterations and the bits of a serial loop") {
  const Chain chain;
  int turn = 0;
  for (const int check_period : {1, 7, 10, 100}) {
    const ChainReference reference = tests::sweep_serially(chain, 1e-9, 1000, check_period);
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task})
      for (const int depth : {1, 3}) {
        const ThreadLevel level =
            turn++ % 4 < 2 ? tests::session().thread_level() : ThreadLevel::serialized;
        CAPTURE(check_period, spmv::name(mode), depth, static_cast<int>(level));
        System system(chain, depth, level);
        const IterationReport report =
            system.run({.mode = mode, .tolerance = 1e-9, .check_period = check_period});
        CHECK(report.status == SolveStatus::converged);
        check_against(reference, system, report);
      }
  }
}

TEST_CASE("waiting for neighbours in turn gives the bits of waiting for all") {
  const Chain chain;
  const ChainReference reference = tests::sweep_serially(chain, 1e-9, 1000, 7);
  for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task})
    for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
      CAPTURE(spmv::name(mode), static_cast<int>(level));
      System system(chain, 1, level);
      const IterationReport report =
          system.run({.mode = mode, .wait = HaloWait::each, .tolerance = 1e-9, .check_period = 7});
      check_against(reference, system, report);
    }
}

TEST_CASE("the residuals of all ranks' own rows make up that of the whole") {
  const Chain chain;
  System system(chain);
  const IterationReport report = system.run({.tolerance = 1e-9, .check_period = 5});
  REQUIRE(report.own_history.size() == std::min<std::size_t>(report.history.size(), 64));
  for (const std::size_t i : {std::size_t{0}, report.own_history.size() - 1}) {
    const double own = report.own_history[i].residual;
    const double whole = i == 0 ? report.history.front().residual : report.history.back().residual;
    CHECK(std::sqrt(system.world().sum(own * own)) == Approx(whole));
  }
}

TEST_CASE("every transport gives the iterations and the bits of a serial loop") {
  const Chain chain;
  int turn = Communicator::collective_world().size();
  const ChainReference reference = tests::sweep_serially(chain, 1e-9, 1000, 7);
  for (const std::string& transport : tests::transport_names())
    for (const Mode mode : {Mode::vector, Mode::task})
      for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
        const int depth = turn++ % 3 == 0 ? 3 : 1;
        CAPTURE(transport, spmv::name(mode), depth, static_cast<int>(level));
        System system(chain, depth, level);
        const IterationReport report =
            system.run({.mode = mode,
                        .transport = comm_thread::transport_choice(transport),
                        .tolerance = 1e-9,
                        .check_period = 7});
        CHECK(report.status == SolveStatus::converged);
        check_against(reference, system, report);
      }
}

TEST_CASE("after the most iterations the residual is known, and says whether it was enough") {
  const Chain chain;
  for (const std::int64_t most : {0, 1, 5, 20, 23})
    for (const int depth : {1, 2}) {
      CAPTURE(most, depth);
      System system(chain, depth);
      const IterationReport report =
          system.run({.tolerance = 1e-12, .max_iterations = most, .check_period = 10});
      CHECK(report.status == SolveStatus::not_converged);
      check_against(tests::sweep_serially(chain, 1e-12, most, 10), system, report);
    }
  System system(chain);
  const IterationReport report =
      system.run({.tolerance = 1e-2, .max_iterations = 33, .check_period = 100});
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations == 33);
}

TEST_CASE("a second run goes on from where the first has ended") {
  const Chain chain;
  System system(chain);
  system.run({.max_iterations = 9, .check_period = 4});
  const IterationReport report = system.run({.max_iterations = 8, .check_period = 5});
  CHECK(report.iterations == 8);
  CHECK(system.has_values_of(tests::sweep_serially(chain, 1e-4, 17, 100)));
}

TEST_CASE("halos are exchanged exactly as often as said") {
  const Chain chain;
  for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task})
    for (const int halo_period : {1, 3}) {
      CAPTURE(spmv::name(mode), halo_period);
      System system(chain);
      system.run({.mode = mode,
                  .tolerance = 1e-12,
                  .max_iterations = 25,
                  .check_period = 10,
                  .halo_period = halo_period});
      std::int64_t exchanges = 1;  // before the last residual
      for (int sweep = 0; sweep < 25; ++sweep)
        exchanges += sweep % 10 == 0 || sweep % halo_period == 0;
      const std::int64_t neighbours = std::ssize(system.sweeper().neighbours());
      CHECK(system.sweeper().pack_count() == neighbours * exchanges);
      CHECK(system.sweeper().advance_count() == (neighbours == 0 ? 3 : 0));
      // While a halo travels, all but the last, the interior is swept.
      const bool overlaps = mode != Mode::vector && neighbours > 0;
      CHECK(system.sweeper().interior_count() == (overlaps ? exchanges - 1 : 0));
    }
}

TEST_CASE("deep halos are exchanged once for several sweeps") {
  System system(Chain{}, 3);
  system.run({.tolerance = 1e-12, .max_iterations = 21, .check_period = 9});
  const std::int64_t neighbours = std::ssize(system.sweeper().neighbours());
  // Checks before sweeps 0, 9, 18 and at the end; between them 8 = 3 + 3 + 2, again, and 2 sweeps.
  CHECK(system.sweeper().pack_count() == neighbours * (4 + 3 + 3 + 1));
  CHECK(system.sweeper().advance_count() == (neighbours == 0 ? 3 : 7));
}

TEST_CASE("with old halos an iteration converges, too") {
  System system(Chain{});
  const IterationReport report =
      system.run({.tolerance = 1e-9, .check_period = 12, .halo_period = 5});
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < 1e-9);
  CHECK(report.iterations % 12 == 0);
}

TEST_CASE("an iteration that diverges ends with a breakdown that is explained") {
  System system(Chain{.coupling = 1});
  const IterationReport report = system.run({.check_period = 50});
  CHECK(report.status == SolveStatus::breakdown);
  CHECK_FALSE(std::isfinite(report.relative_residual));
  CHECK(report.iterations % 50 == 0);
  CHECK(report.iterations < 2000);
  CHECK(report.explanation.find(std::to_string(report.iterations) + " iterations") !=
        std::string::npos);
}

TEST_CASE("where b is 0 residuals are absolute") {
  System zero(Chain{.scale = 0});
  const IterationReport report = zero.run({.tolerance = 0});
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations == 0);
  CHECK(report.relative_residual == 0);
}

TEST_CASE("disturbances cost time, not bits") {
  const Chain chain;
  for (const int depth : {1, 3}) {
    System system(chain, depth);
    const int rank = system.world().rank();
    const int last = system.world().size() - 1;
    const std::vector<Fault> faults{
        {Fault::Kind::slow, 0, 3}, {Fault::Kind::jitter, 0, 1}, {Fault::Kind::stall, last, 0.01}};
    const IterationReport report = system.run(
        {.tolerance = 1e-9, .check_period = 10, .disturbance = Disturbance(faults, rank)});
    check_against(tests::sweep_serially(chain, 1e-9, 1000, 10), system, report);
    CHECK(report.times.injected > (rank == last ? 0.01 : 0));
  }
}

TEST_CASE("every check is told") {
  System system(Chain{});
  std::vector<std::int64_t> iterations;
  std::vector<double> residuals;
  const IterationReport report = system.run({.tolerance = 1e-12,
                                             .max_iterations = 25,
                                             .check_period = 10,
                                             .on_check = [&](std::int64_t iteration, double r) {
                                               iterations.push_back(iteration);
                                               residuals.push_back(r);
                                             }});
  CHECK(iterations == std::vector<std::int64_t>{0, 10, 20, 25});
  CHECK(residuals.back() == report.relative_residual);
}

TEST_CASE("options out of range are refused") {
  System system(Chain{});
  CHECK_THROWS_AS(system.run({.check_period = 0}), comm_thread::InputError);
  CHECK_THROWS_AS(system.run({.halo_period = 0}), comm_thread::InputError);
  CHECK_THROWS_AS(system.run({.max_iterations = -1}), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
