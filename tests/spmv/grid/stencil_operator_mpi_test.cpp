#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/grid/rows_in_order.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

double operand_value(GlobalIndex row) { return std::sin(1.0 + static_cast<double>(row)); }

struct System {
  explicit System(const std::string& problem)
      : world(Communicator::collective_world()),
        team(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        op(world, comm_thread, team, GridStencil::of(Problem::parse(problem))) {}

  Communicator world;
  ComputeTeam team;
  CommThread comm_thread;
  StencilOperator op;
};

const std::vector<std::string> problems{"poisson3d:9x7x11", "poisson3d:17x4x4",
                                        "anisotropic3d:8,1,0.25,3", "poisson3d27:7",
                                        "poisson2d:19x13"};

TEST_CASE("without a matrix the product has the bits of the matrix, in every mode") {
  for (const std::string& word : problems) {
    const Problem problem = Problem::parse(word);
    System system(word);
    const StencilOperator& op = system.op;
    const auto matrix = tests::reference_matrix(problem);
    std::vector<double> whole;
    for (GlobalIndex row = 0; row < problem.row_count(); ++row) whole.push_back(operand_value(row));
    const std::vector<double> expected = tests::multiply(matrix, whole);
    comm_thread::ExactAccumulator exact;
    for (std::size_t i = 0; i < whole.size(); ++i) exact.add(whole[i] * expected[i]);
    const auto x = system.op.collective_make_operand();
    std::vector<double> y(op.element_count());
    comm_thread::ReproducibleSum sum(system.world, system.comm_thread, tests::thread_count(), 1);
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task}) {
      CAPTURE(word, name(mode));
      std::int64_t wrong = 0;
      std::int64_t rows = 0;
      system.team.run([&](const TeamThread& thread) {
        for (const Segment& segment : op.segments(thread.index))
          for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
            x->values()[segment.begin + i] = operand_value(op.global_row(segment.begin + i));
        perfmodel::PhaseTimer timer;
        op.apply(thread, mode, *x, y.data(), timer, {&sum.part(thread.index), 1e4});
        sum.collective_reduce(thread);
      });
      for (int thread = 0; thread < tests::thread_count(); ++thread)
        for (const Segment& segment : op.segments(thread))
          for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i, ++rows)
            wrong += y[segment.begin + i] !=
                     expected[static_cast<std::size_t>(op.global_row(segment.begin + i))];
      CHECK(wrong == 0);
      CHECK(system.world.sum(rows) == problem.row_count());
      CHECK(sum.result() == Approx(exact.rounded()).epsilon(1e-14));
    }
    // In one go and in pieces, by the primary thread.
    std::vector<double> pieces(op.element_count());
    int pauses = 0;
    const TeamThread alone{};
    op.multiply(RowSet::all, alone, x->values(), y.data(), {});
    op.multiply_in_pieces(RowSet::all, alone, x->values(), pieces.data(), {}, [&] { ++pauses; });
    CHECK(pauses >= op.layout().own().size(2));
    for (int thread = 0; thread < tests::thread_count(); ++thread)
      for (const Segment& segment : op.segments(thread))
        CHECK(std::equal(pieces.data() + segment.begin,
                         pieces.data() + segment.begin + segment.count, y.data() + segment.begin));
    std::vector<double> diagonal(op.element_count());
    op.copy_diagonal(diagonal);
    for (const Segment& segment : op.segments(0))
      CHECK(diagonal[segment.begin] ==
            matrix[static_cast<std::size_t>(op.global_row(segment.begin))].at(
                op.global_row(segment.begin)));
  }
}

TEST_CASE("the boxes of all ranks are brought into the order of the rows") {
  for (const std::string word : {"poisson3d:9x7x11", "poisson2d:400x401", "poisson2d:8x1"}) {
    CAPTURE(word);
    System system(word);
    const StencilOperator& op = system.op;
    std::vector<double> vector(op.element_count(), -1.0);
    for (int thread = 0; thread < tests::thread_count(); ++thread)
      for (const Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          vector[segment.begin + i] = operand_value(op.global_row(segment.begin + i));
    const auto rows = RowPartition::by_rows(op.global_row_count(), system.world.size());
    const std::vector<double> own = collective_rows_in_order(system.world, op, vector, rows);
    const int rank = system.world.rank();
    CHECK(std::ssize(own) == rows.size(rank));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      wrong += own[i] != operand_value(rows.begin(rank) + static_cast<GlobalIndex>(i));
    CHECK(wrong == 0);
  }
}

TEST_CASE("a stencil knows the numbers of its matrix") {
  for (const std::string& word : problems) {
    CAPTURE(word);
    const Problem problem = Problem::parse(word);
    const GridStencil stencil = GridStencil::of(problem);
    std::int64_t nonzeros = 0;
    double largest = 0;
    for (const auto& row : tests::reference_matrix(problem)) {
      double sum = 0;
      for (const auto& [column, value] : row) sum += std::abs(value);
      largest = std::max(largest, sum);
      nonzeros += std::ssize(row);
    }
    CHECK(stencil.nonzero_count() == nonzeros);
    CHECK(stencil.norm() >= largest);
    CHECK(stencil.row_count() == problem.row_count());
  }
  CHECK_THROWS_AS(GridStencil::of(Problem::parse("irregular:100")), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::spmv
