#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

double value_of(GlobalIndex row) { return std::sin(1.0 + static_cast<double>(row)); }

/// Of the sum of x·(A·x): where coefficients vary, what a method knows beforehand is far off.
constexpr double far_bound = 1e15;

TEST_CASE("couplings without a matrix multiply with the bits of the matrix, in every mode") {
  for (const std::string word :
       {"diffusion3d:9x7x11,lognormal:2", "diffusion3d:17x4x4,jumps:1000", "diffusion3d:8,constant",
        "diffusion3d:19x13x2,checkerboard:3,0.001"}) {
    const Problem problem = Problem::parse(word);
    const Communicator world = Communicator::collective_world();
    const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
    CommThread carrier({.thread_level = tests::session().thread_level()});
    DiffusionOperator op(world, carrier, team, problem);
    const auto matrix = tests::reference_matrix(problem);
    std::vector<double> whole;
    for (GlobalIndex row = 0; row < problem.row_count(); ++row) whole.push_back(value_of(row));
    const std::vector<double> expected = tests::multiply(matrix, whole);
    comm_thread::ExactAccumulator exact;
    for (std::size_t i = 0; i < whole.size(); ++i) exact.add(whole[i] * expected[i]);
    const auto x = op.collective_make_operand();
    std::vector<double> y(op.element_count());
    comm_thread::ReproducibleSum sum(world, carrier, tests::thread_count(), 1);
    const auto for_each_point = [&](const auto& visit) {
      for (int thread = 0; thread < tests::thread_count(); ++thread)
        for (const Segment& segment : op.segments(thread))
          for (std::size_t i = segment.begin;
               i < segment.begin + static_cast<std::size_t>(segment.count); ++i)
            visit(i, static_cast<std::size_t>(op.global_row(i)));
    };
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task}) {
      CAPTURE(word, name(mode));
      for_each_point([&](std::size_t i, std::size_t row) { x->values()[i] = whole[row]; });
      std::ranges::fill(y, 0.0);
      team.run([&](const TeamThread& thread) {
        perfmodel::PhaseTimer timer;
        op.apply(thread, mode, *x, y.data(), timer, {&sum.part(thread.index), far_bound});
        sum.collective_reduce(thread);
      });
      std::int64_t wrong = 0;
      std::int64_t rows = 0;
      for_each_point([&](std::size_t i, std::size_t row) {
        wrong += y[i] != expected[row];
        ++rows;
      });
      CHECK(wrong == 0);
      CHECK(world.sum(rows) == problem.row_count());
      CHECK(sum.result() == Approx(exact.rounded()).epsilon(1e-12));
    }
    CAPTURE(word);
    std::vector<double> diagonal(op.element_count());
    op.copy_diagonal(diagonal);
    double norm = 0;
    std::int64_t nonzeros = 0;
    for (const auto& row : matrix) {
      double row_sum = 0;
      for (const auto& [column, value] : row) row_sum += std::abs(value);
      norm = std::max(norm, row_sum);
      nonzeros += std::ssize(row);
    }
    for_each_point([&](std::size_t i, std::size_t row) {
      CHECK(diagonal[i] == matrix[row].at(static_cast<GlobalIndex>(row)));
    });
    CHECK(op.collective_norm() == norm);
    CHECK(op.nonzero_count() == nonzeros);
  }
}

}  // namespace
}  // namespace weft::spmv
