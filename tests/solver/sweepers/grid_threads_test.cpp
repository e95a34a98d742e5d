#include "solver/sweepers/grid_threads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/threaded_iteration.h"
#include "spmv/grid/diffusion_problem.h"

namespace weft::solver {
namespace {

using comm_thread::ComputeTeam;
using comm_thread::WaitPolicy;
using spmv::DiffusionProblem;
using spmv::GlobalIndex;
using Options = ThreadedIteration::Options;
using Variant = ThreadedIteration::Variant;

/// Eight threads get blocks of one and of two planes.
constexpr spmv::GridSize small_grid{9, 7, 11};

/// All points of a grid, one after the other, boundary values around them.
class SerialReference {
 public:
  explicit SerialReference(const DiffusionProblem& problem)
      : problem_(problem),
        values_(static_cast<std::size_t>((problem.grid.x + 2) * (problem.grid.y + 2) *
                                         (problem.grid.z + 2))) {
    for (GlobalIndex z = -1; z <= problem.grid.z; ++z)
      for (GlobalIndex y = -1; y <= problem.grid.y; ++y)
        for (GlobalIndex x = -1; x <= problem.grid.x; ++x)
          values_[index(x, y, z)] = problem.boundary_value(x, y, z);
    for_each_point([this](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      values_[index(x, y, z)] = problem_.start_value();
    });
  }

  void sweep() {
    std::vector<double> made = values_;
    for_each_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      made[index(x, y, z)] = neighbours(x, y, z) * (1.0 / 6.0);
    });
    values_ = made;
  }

  void copy(const GridThreads& jacobi) {
    for_each_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      values_[index(x, y, z)] = jacobi.value(x, y, z);
    });
  }

  std::size_t count_of_differences(const GridThreads& jacobi) const {
    std::size_t count = 0;
    for_each_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      count += jacobi.value(x, y, z) != values_[index(x, y, z)];
    });
    return count;
  }

  double relative_residual() const {
    double square = 0;
    for_each_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      const double residual = neighbours(x, y, z) - 6 * values_[index(x, y, z)];
      square += residual * residual;
    });
    const auto [x, y, z] = problem_.grid;
    return std::sqrt(square / problem_.source_square({{0, 0, 0}, {x, y, z}}));
  }

 private:
  std::size_t index(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    return static_cast<std::size_t>((x + 1) + (problem_.grid.x + 2) *
                                                  ((y + 1) + (problem_.grid.y + 2) * (z + 1)));
  }

  double neighbours(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    const auto at = [this](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
      return values_[index(i, j, k)];
    };
    return ((at(x - 1, y, z) + at(x + 1, y, z)) + (at(x, y - 1, z) + at(x, y + 1, z))) +
           (at(x, y, z - 1) + at(x, y, z + 1));
  }

  template <class Work>
  void for_each_point(const Work& work) const {
    for (GlobalIndex z = 0; z < problem_.grid.z; ++z)
      for (GlobalIndex y = 0; y < problem_.grid.y; ++y)
        for (GlobalIndex x = 0; x < problem_.grid.x; ++x) work(x, y, z);
  }

  DiffusionProblem problem_;
  std::vector<double> values_;
};

std::uint64_t total(const Histogram& histogram) {
  std::uint64_t sum = 0;
  for (const auto& [value, count] : histogram) sum += count;
  return sum;
}

/// Checks of every run: the report describes the solution and the threads' sweeps.
void check_report(const DiffusionProblem& problem, const GridThreads& jacobi,
                  const ThreadedReport& report, const Options& options) {
  SerialReference solution(problem);
  solution.copy(jacobi);
  CHECK(report.whole.relative_residual ==
        Approx(solution.relative_residual()).epsilon(1e-9).margin(1e-14));
  CHECK((report.whole.status == SolveStatus::converged) ==
        (report.whole.relative_residual < options.tolerance));
  CHECK(report.whole.history.back().residual == report.whole.relative_residual);
  CHECK(report.times.size() == report.iterations.size());
  CHECK(report.whole.iterations ==
        *std::max_element(report.iterations.begin(), report.iterations.end()));
  CHECK(report.whole.iterations <= options.max_iterations);
}

/// Checks of asynchronous runs: every sweep reads every neighbour once and is read by it.
void check_exchanges(const ThreadedReport& report) {
  std::uint64_t links_swept = 0;
  for (std::size_t i = 0; i < report.iterations.size(); ++i) {
    const std::uint64_t neighbour_count = (i > 0) + (i + 1 < report.iterations.size());
    links_swept += neighbour_count * static_cast<std::uint64_t>(report.iterations[i]);
  }
  CHECK(report.whole.sent_count == links_swept);
  CHECK(report.whole.received_count == links_swept);
  CHECK(total(report.whole.staleness) == links_swept);
}

ThreadedReport run(const ComputeTeam& team, const GridThreads& jacobi, const Options& options) {
  return ThreadedIteration(team, jacobi.sweepers(), options).run(jacobi.source_norm());
}

ThreadedReport check_run(const ComputeTeam& team, const DiffusionProblem& problem,
                         const Options& options) {
  const GridThreads jacobi(team, problem);
  const ThreadedReport report = run(team, jacobi, options);
  CHECK(report.iterations.size() == static_cast<std::size_t>(team.thread_count()));
  check_report(problem, jacobi, report, options);
  if (options.variant != Variant::sync) check_exchanges(report);
  return report;
}

TEST_CASE("synchronously any number of threads does what one loop does, to the last bit") {
  const int thread_count = GENERATE(1, 2, 3, 8);
  const GlobalIndex plane_count = GENERATE(8, 11, 24);
  const double lift = GENERATE(0.0, 1.0);
  CAPTURE(thread_count, plane_count, lift);
  const ComputeTeam team(thread_count, WaitPolicy::yield);
  const DiffusionProblem problem{{9, 7, plane_count}, lift};
  const GridThreads jacobi(team, problem);
  const ThreadedReport report = run(team, jacobi, {.check_period = 7});
  CHECK(report.whole.status == SolveStatus::converged);
  CHECK(report.iterations ==
        std::vector<std::int64_t>(static_cast<std::size_t>(thread_count), report.whole.iterations));

  SerialReference reference(problem);
  std::int64_t sweep_count = 0;
  while (reference.relative_residual() >= 1e-4)
    for (int i = 0; i < 7; ++i, ++sweep_count) reference.sweep();
  CHECK(report.whole.iterations == sweep_count);
  CHECK(reference.count_of_differences(jacobi) == 0);
  CHECK(report.whole.relative_residual == Approx(reference.relative_residual()));
}

TEST_CASE("a synchronous run ends at the most iterations, wherever checks are") {
  const ComputeTeam team(3, WaitPolicy::yield);
  const DiffusionProblem problem{small_grid};
  const std::int64_t most = GENERATE(0, 1, 13, 20);
  const GridThreads jacobi(team, problem);
  const ThreadedReport report = run(team, jacobi, {.max_iterations = most, .check_period = 10});
  CHECK(report.whole.status == SolveStatus::not_converged);
  CHECK(report.whole.iterations == most);
  SerialReference reference(problem);
  for (int i = 0; i < most; ++i) reference.sweep();
  CHECK(reference.count_of_differences(jacobi) == 0);
  CHECK(report.whole.relative_residual == Approx(reference.relative_residual()));
}

TEST_CASE("in an asynchronous run the reported residual is the true one, every time") {
  const int thread_count = GENERATE(1, 2, 3, 8);
  const Variant variant = GENERATE(Variant::async, Variant::racy);
  const ComputeTeam team(thread_count, WaitPolicy::yield);
  for (int repetition = 0; repetition < 20; ++repetition) {
    CAPTURE(thread_count, static_cast<int>(variant), repetition);
    const ThreadedReport report = check_run(team, {small_grid}, {.variant = variant});
    CHECK(report.whole.status == SolveStatus::converged);
    CHECK(report.whole.detection->has_converged);
    CHECK(report.whole.detection->fired_count ==
          report.whole.detection->failed_verification_count + 1);
  }
}

TEST_CASE("small tolerances are reached, and noticed") {
  const Variant variant = GENERATE(Variant::async, Variant::racy);
  const ComputeTeam team(3, WaitPolicy::yield);
  const Options options{.variant = variant, .tolerance = 1e-11, .contribution_period = 1};
  const ThreadedReport report = check_run(team, {small_grid}, options);
  CHECK(report.whole.status == SolveStatus::converged);
  // Detected, not discovered by chance when there were no sweeps left.
  CHECK(report.whole.iterations < options.max_iterations);
}

TEST_CASE("slow, unsteady and stalled threads do not change what is reported") {
  const Variant variant = GENERATE(Variant::sync, Variant::async, Variant::racy);
  const std::string fault = GENERATE("slow:1:30", "jitter:3", "stall:0:0.03");
  const int thread_count = GENERATE(2, 3, 8);
  CAPTURE(static_cast<int>(variant), fault, thread_count);
  const ComputeTeam team(thread_count, WaitPolicy::yield);
  const ThreadedReport report =
      check_run(team, {small_grid}, {.variant = variant, .faults = {Fault::parse(fault)}});
  CHECK(report.whole.status == SolveStatus::converged);
  const bool concerns_first = fault != "slow:1:30";
  CHECK(report.times[concerns_first ? 0 : 1].injected > 0);
}

TEST_CASE("a run that may not sweep enough says so, with the true residual") {
  const Variant variant = GENERATE(Variant::async, Variant::racy);
  const int thread_count = GENERATE(1, 3, 8);
  const std::int64_t most = GENERATE(0, 1, 15);
  CAPTURE(static_cast<int>(variant), thread_count, most);
  const ComputeTeam team(thread_count, WaitPolicy::yield);
  const ThreadedReport report =
      check_run(team, {small_grid}, {.variant = variant, .max_iterations = most});
  CHECK(report.whole.status == SolveStatus::not_converged);
  CHECK(report.whole.iterations == most);
  CHECK_FALSE(report.whole.detection->has_converged);
  // Sweeps after a thread's last contribution are in vain; every tenth sweep contributes. The other
  // threads may end at any sweep.
  const double wasted = report.whole.detection->most_wasted_sweeps;
  CHECK(wasted >= static_cast<double>(most % 10));
  CHECK(wasted <= (thread_count == 1 ? static_cast<double>(most % 10) : 9));
}

TEST_CASE("a lift changes neither the residual's meaning nor the end") {
  const Variant variant = GENERATE(Variant::async, Variant::racy);
  const ComputeTeam team(3, WaitPolicy::yield);
  const ThreadedReport report = check_run(team, {small_grid, 1}, {.variant = variant});
  CHECK(report.whole.status == SolveStatus::converged);
}

TEST_CASE("options that make no sense are told") {
  const ComputeTeam team(3, WaitPolicy::yield);
  const auto build = [&team](GlobalIndex plane_count, const Options& options) {
    const GridThreads jacobi(team, {{9, 7, plane_count}});
    return ThreadedIteration(team, jacobi.sweepers(), options);
  };
  CHECK_THROWS_WITH(build(2, {}),
                    "compute threads: found 3 for a grid of 2 planes in z; expected at most one "
                    "thread a plane");
  CHECK_THROWS_WITH(build(3, {.max_iterations = -1}),
                    "most iterations: found -1; expected at least 0");
  CHECK_THROWS_AS(build(3, {.check_period = 0}), comm_thread::InputError);
  CHECK_THROWS_AS(build(3, {.contribution_period = 0}), comm_thread::InputError);
  CHECK_NOTHROW(build(3, {}));
}

}  // namespace
}  // namespace weft::solver
