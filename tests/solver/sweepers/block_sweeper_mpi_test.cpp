#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/sweepers/block_sweeper.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/sweep/sweeper_driver.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using spmv::Problem;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::SweeperDriver;
using tests::Vector;

bool same_values(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>,
                            std::bit_cast<std::uint64_t, double>);
}

double largest_difference(std::span<const double> a, const Vector& b) {
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

Vector block_right_hand_side(std::size_t size) {
  Vector b;
  for (std::size_t i = 0; i < size; ++i) b.push_back(std::sin(static_cast<double>(i % 97)));
  return b;
}

/// Sweeps of Gauss and Seidel over rows [begin, end) alone, until the block is solved.
void solve_block(const ReferenceMatrix& a, const Vector& r, GlobalIndex begin, GlobalIndex end,
                 Vector& d) {
  for (int sweep = 0; sweep < 600; ++sweep)
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      double rest = r[row];
      for (const auto& [column, value] : a[row])
        if (column >= begin && column < end && column != static_cast<GlobalIndex>(row))
          rest -= value * d[static_cast<std::size_t>(column)];
      d[row] = rest / a[row].at(static_cast<GlobalIndex>(row));
    }
}

/// One sweep of the multisplitting on one thread.
void sweep_serially(const ReferenceMatrix& a, const Vector& b, int blocks, Vector& x) {
  const auto partition = spmv::RowPartition::by_rows(std::ssize(b), blocks);
  Vector r = b;
  const Vector y = tests::multiply(a, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] -= y[i];
  Vector d(b.size(), 0.0);
  for (int block = 0; block < blocks; ++block)
    solve_block(a, r, partition.begin(block), partition.end(block), d);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += d[i];
}

TEST_CASE("a sweep solves every rank's block as the serial method does") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson2d:3x2", "poisson2d:9x8", "irregular:1100"}) {
    CAPTURE(word);
    const ReferenceMatrix reference = tests::reference_matrix(Problem::parse(word));
    const Vector b = block_right_hand_side(reference.size());
    MatrixSystem system(world, reference);
    const Vector own_b = system.part_of(b);
    BlockSweeper sweeper(system.op(), own_b, {.inner_tolerance = 1e-13});
    SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
    Vector expected(b.size(), 0.0);
    for (int i = 0; i < 3; ++i) {
      sweep_serially(reference, b, world.size(), expected);
      iteration.sweep(SweeperDriver::Halo::fresh,
                      i == 1 ? SweeperDriver::Parts::two : SweeperDriver::Parts::one);
      CHECK(largest_difference(sweeper.solution(), system.part_of(expected)) < 1e-6);
    }
  }
}

TEST_CASE("a sweep in parts has the bits of a whole one, and residuals those of the matrix") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:40x30"));
  const Vector b = block_right_hand_side(reference.size());
  MatrixSystem system(world, reference);
  const Vector own_b = system.part_of(b);
  BlockSweeper whole(system.op(), own_b, {});
  BlockSweeper in_parts(system.op(), own_b, {});
  SweeperDriver whole_iteration(system.communicator(), system.comm_thread(), whole);
  SweeperDriver iteration_in_parts(system.communicator(), system.comm_thread(), in_parts);
  CHECK(whole_iteration.residual_square() == tests::square(b));
  for (int i = 0; i < 4; ++i)
    CHECK(whole_iteration.sweep(SweeperDriver::Halo::fresh, SweeperDriver::Parts::one) ==
          iteration_in_parts.sweep(SweeperDriver::Halo::fresh, SweeperDriver::Parts::two));
  CHECK(same_values(whole.solution(), in_parts.solution()));
  CHECK(whole_iteration.sweep_in_vain() == iteration_in_parts.residual_square());
  CHECK(same_values(whole.solution(), in_parts.solution()));
}

TEST_CASE("the number of threads does not change the bits") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("irregular:2000"));
  const Vector b = block_right_hand_side(reference.size());
  Vector with_one_thread;
  for (const int threads : {1, 2, 3}) {
    MatrixSystem system(world, reference, threads);
    const Vector own_b = system.part_of(b);
    BlockSweeper sweeper(system.op(), own_b, {});
    SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
    for (int i = 0; i < 3; ++i) iteration.sweep();
    if (threads == 1) with_one_thread.assign(sweeper.solution().begin(), sweeper.solution().end());
    CHECK(same_values(sweeper.solution(), with_one_thread));
  }
}

TEST_CASE("few outer iterations suffice, one on a single rank") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:20"));
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  BlockSweeper sweeper(system.op(), b, {.inner_tolerance = 1e-6});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  // Jacobi takes more than 700.
  const int sweeps = iteration.sweeps_to(1e-4, 20, 300);
  CHECK(sweeps < (world.size() == 1 ? 2 : 100));
  CHECK(iteration.residual_square() < 1e-8 * 400);
  const BlockSweeper::InnerSolves& inner = sweeper.inner_solves();
  CHECK(inner.solves == sweeps + 1);
  CHECK(inner.iterations > 10);
  CHECK(inner.breakdowns == 0);
}

TEST_CASE("inner solves end after as many iterations as are allowed") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:20"));
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(block_right_hand_side(reference.size()));
  BlockSweeper sweeper(system.op(), b, {.inner_tolerance = 1e-12, .inner_max_iterations = 3});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  for (int i = 0; i < 5; ++i) iteration.sweep();
  CHECK(sweeper.inner_solves().solves == 5);
  CHECK(sweeper.inner_solves().iterations == 15);
}

TEST_CASE("the residual of a recorded state of blocks is that of the time of recording") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  BlockSweeper sweeper(system.op(), b, {});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  iteration.sweep();
  iteration.record();
  const double recorded = iteration.sweep();
  iteration.sweep();
  CHECK(iteration.residual_square_of_record() == recorded);
}

TEST_CASE("several sweeps of blocks at once are single sweeps with one halo") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  BlockSweeper at_once(system.op(), b, {});
  BlockSweeper singly(system.op(), b, {});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), singly);
  at_once.team().run([&](const comm_thread::TeamThread& thread) { at_once.advance(thread, 3); });
  for (int i = 0; i < 3; ++i) iteration.sweep(SweeperDriver::Halo::old);
  CHECK(same_values(at_once.solution(), singly.solution()));
}

TEST_CASE("a block that is not positive definite is reported and leaves the values finite") {
  const auto world = Communicator::collective_world();
  // The first two rows: [1 2; 2 1] has the eigenvalue −1.
  ReferenceMatrix reference(8);
  for (GlobalIndex row = 0; row < 8; ++row) reference[static_cast<std::size_t>(row)][row] = 1;
  reference[0][1] = reference[1][0] = 2;
  MatrixSystem system(world, reference);
  Vector b(8, 1.0);
  b[1] = -1;
  const Vector own_b = system.part_of(b);
  BlockSweeper sweeper(system.op(), own_b, {});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  iteration.sweep();
  CHECK(sweeper.inner_solves().breakdowns == (world.is_root() ? 1 : 0));
  CHECK((sweeper.inner_solves().first_breakdown.find("not positive definite") !=
         std::string::npos) == world.is_root());
  for (const double value : sweeper.solution()) CHECK(std::isfinite(value));
}

TEST_CASE("a diagonal that is not positive is refused on every rank, with its row") {
  const auto world = Communicator::collective_world();
  auto reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  reference[50][50] = -4;
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  CHECK_THROWS_AS(BlockSweeper(system.op(), b, {}), comm_thread::InputError);
  CHECK_THROWS_WITH(BlockSweeper(system.op(), b, {}),
                    "row 51 has -4 on the diagonal; expected a positive number, because blocks "
                    "are solved by conjugate gradients");
}

}  // namespace
}  // namespace weft::solver
