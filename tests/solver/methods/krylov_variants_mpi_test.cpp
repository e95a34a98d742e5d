#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/krylov/conjugate_gradient.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using spmv::LinearOperator;
using spmv::Mode;
using spmv::Problem;
using spmv::Segment;

auto cg_variants() { return krylov_methods() | std::views::filter(&KrylovEntry::is_cg_variant); }

/// An operator, with or without a matrix, on given ranks and threads, and a right-hand side.
class System {
 public:
  System(const Communicator& communicator, int threads, const std::string& word,
         bool is_matrix_free, const std::string& right_hand_side = "boundary-one")
      : communicator_(communicator),
        problem_(Problem::parse(word)),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}) {
    if (is_matrix_free)
      operator_ = std::make_unique<spmv::StencilOperator>(communicator_, comm_thread_, team_,
                                                          spmv::GridStencil::of(problem_));
    else
      operator_ = std::make_unique<spmv::SparseOperator>(
          communicator_, comm_thread_, team_,
          collective_generate(communicator_, team_, problem_, spmv::PartitionBy::rows));
    b_.resize(operator_->element_count());
    for_each_segment([&](const Segment& segment) {
      spmv::fill_rows(
          spmv::RightHandSide::parse(right_hand_side), problem_,
          operator_->global_row(segment.begin),
          std::span(b_).subspan(segment.begin, static_cast<std::size_t>(segment.count)));
    });
  }

  LinearOperator& op() { return *operator_; }
  /// Null without `has_jacobi`.
  Preconditioner* jacobi(bool has_jacobi) {
    if (has_jacobi && !jacobi_) jacobi_ = std::make_unique<DiagonalPreconditioner>(*operator_);
    return has_jacobi ? jacobi_.get() : nullptr;
  }
  std::vector<double>& b() { return b_; }

  template <class Work>
  void for_each_segment(const Work& work) const {
    for (int thread = 0; thread < team_.thread_count(); ++thread)
      for (const Segment& segment : operator_->segments(thread)) work(segment);
  }

 private:
  const Communicator& communicator_;
  Problem problem_;
  ComputeTeam team_;
  CommThread comm_thread_;
  std::unique_ptr<LinearOperator> operator_;
  std::unique_ptr<DiagonalPreconditioner> jacobi_;
  std::vector<double> b_;
};

KrylovMethod::Options options(double tolerance, Mode mode = Mode::task,
                              Preconditioner* preconditioner = nullptr) {
  return {.mode = mode,
          .preconditioner = preconditioner,
          .stop = {tolerance, 10000},
          .on_iteration = {}};
}

TEST_CASE(
    "every variant solves Hoefler's problem in as many iterations, with and without a matrix") {
  const auto world = Communicator::collective_world();
  for (const bool is_matrix_free : {false, true}) {
    System system(world, tests::thread_count(), "poisson3d:50", is_matrix_free);
    for (const KrylovEntry& variant : cg_variants()) {
      CAPTURE(variant.name, is_matrix_free);
      if (is_matrix_free) {
        const auto rough = variant.collective_make(system.op(), options(1e-2));
        CHECK(rough->solve(system.b()).iterations == 55);
      }
      const auto fine = variant.collective_make(system.op(), options(1e-8));
      const SolveReport report = fine->solve(system.b());
      CHECK(report.status == SolveStatus::converged);
      CHECK(report.iterations == 125);
      CHECK(report.restarts == 0);
      CHECK(report.relative_residual < 1.1e-8);
      double error = 0;  // the solution is one everywhere
      system.for_each_segment([&](const Segment& segment) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          error = std::max(error, std::abs(fine->solution()[segment.begin + i] - 1));
      });
      CHECK(error < 1e-6);
    }
  }
}

/// The solution by global row.
using Solution = std::map<std::int64_t, double>;
std::pair<Solution, std::int64_t> solve(System& system, KrylovMethod& method) {
  const SolveReport report = method.solve(system.b());
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < 3e-6);
  Solution solution;
  system.for_each_segment([&](const Segment& segment) {
    for (std::size_t i = segment.begin; i < segment.begin + static_cast<std::size_t>(segment.count);
         ++i)
      solution[system.op().global_row(i)] = method.solution()[i];
  });
  return {solution, report.iterations};
}
std::pair<Solution, std::int64_t> solve(System& system, const KrylovEntry& variant, Mode mode,
                                        bool has_jacobi) {
  return solve(system, *variant.collective_make(system.op(),
                                                options(1e-6, mode, system.jacobi(has_jacobi))));
}

/// Two modes of four, which alternate with the problems and with the numbers of ranks.
std::vector<Mode> modes_in_turn(int turn) {
  if (turn % 2 == 0) return {Mode::vector, Mode::task};
  return {Mode::overlap, Mode::overlap_test};
}

TEST_CASE("ranks, threads and modes change no bit of any variant") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  int turn = world.size();
  for (const auto& [word, is_matrix_free] :
       std::vector<std::pair<std::string, bool>>{{"anisotropic3d:11,1,0.5,2", true},
                                                 {"poisson3d27:8", true},
                                                 {"poisson2d:23x19", true},
                                                 {"poisson3d:9x8x13", false}})
    for (const bool has_jacobi : {false, true}) {
      ++turn;
      for (const KrylovEntry& variant : cg_variants()) {
        System serial(alone, 1, word, is_matrix_free, "random:3");
        const auto [expected, iterations] = solve(serial, variant, Mode::vector, has_jacobi);
        System system(world, tests::thread_count(), word, is_matrix_free, "random:3");
        for (const Mode mode : modes_in_turn(turn)) {
          CAPTURE(word, is_matrix_free, variant.name, spmv::name(mode), has_jacobi);
          const auto [own, count] = solve(system, variant, mode, has_jacobi);
          CHECK(count == iterations);
          CHECK(std::ranges::all_of(
              own, [&](const auto& entry) { return expected.at(entry.first) == entry.second; }));
        }
      }
    }
}

TEST_CASE("two passes that never store A·p give the bits of three that do") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const std::string word : {"poisson3d:13x9x10", "poisson3d:3x2x17", "poisson3d27:8"}) {
    CAPTURE(word);
    System serial(alone, 1, word, true, "random:3");
    ConjugateGradient three_passes(serial.op(), options(1e-6));
    const auto expected = solve(serial, three_passes);
    System system(world, tests::thread_count(), word, true, "random:3");
    const auto two_passes = find_krylov_method("cg")->collective_make(system.op(), options(1e-6));
    CHECK(two_passes->vector_bytes() < three_passes.vector_bytes());
    const auto [own, count] = solve(system, *two_passes);
    CHECK(count == expected.second);
    const Solution& solution = expected.first;
    CHECK(std::ranges::all_of(
        own, [&](const auto& entry) { return solution.at(entry.first) == entry.second; }));
  }
}

TEST_CASE("a diagonal that varies is made up for by every variant alike") {
  const auto world = Communicator::collective_world();
  System system(world, tests::thread_count(), "irregular:3000,nnzr=9,bandwidth=40,seed=4", false,
                "random:1");
  const auto [textbook, iterations] = solve(system, *find_krylov_method("cg"), Mode::task, true);
  for (const KrylovEntry& variant : cg_variants()) {
    CAPTURE(variant.name);
    const auto [own, count] = solve(system, variant, Mode::task, true);
    CHECK(std::abs(count - iterations) <= 1);
  }
}

TEST_CASE("what leaves the range of double is a breakdown, and what is solved takes no iteration") {
  const auto world = Communicator::collective_world();
  System zero(world, tests::thread_count(), "poisson3d:6", true, "random:1");
  std::ranges::fill(zero.b(), 0.0);
  System infinite(world, tests::thread_count(), "poisson3d:6", true, "random:1");
  for (double& value : infinite.b()) value *= 1e200;
  for (const KrylovEntry& variant : cg_variants()) {
    CAPTURE(variant.name);
    const SolveReport done = variant.collective_make(zero.op(), options(1e-8))->solve(zero.b());
    CHECK(done.status == SolveStatus::converged);
    CHECK(done.iterations == 0);
    CHECK(done.relative_residual == 0);
    const SolveReport overflow =
        variant.collective_make(infinite.op(), options(1e-8))->solve(infinite.b());
    CHECK(overflow.status == SolveStatus::breakdown);
    CHECK(!overflow.explanation.empty());
  }
}

TEST_CASE("where recurrences drift, the method begins again until the true residual is small") {
  const auto world = Communicator::collective_world();
  System system(world, tests::thread_count(), "anisotropic3d:16,1,1,1e-4", true, "random:5");
  for (const KrylovEntry& variant : cg_variants()) {
    CAPTURE(variant.name);
    const SolveReport report =
        variant.collective_make(system.op(), options(1e-13))->solve(system.b());
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.relative_residual < 2e-12);
  }
}

}  // namespace
}  // namespace weft::solver
