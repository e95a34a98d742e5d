// Methods for matrices that are not symmetric, or not definite.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/isai_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::Mode;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;

std::unique_ptr<Preconditioner> collective_make(const std::string& name, MatrixSystem& system) {
  if (name == "jacobi") return std::make_unique<DiagonalPreconditioner>(system.op());
  if (name == "schwarz")
    return std::make_unique<SchwarzPreconditioner>(
        system.op(), SchwarzPreconditioner::Options{.piece_count = 5});
  using Solver = SchwarzOptions::Solver;
  if (name == "ilu0" || name == "block-lu")
    return std::make_unique<SchwarzPreconditioner>(
        system.op(),
        SchwarzPreconditioner::Options{.piece_count = 5,
                                       .overlap = 0,
                                       .solver = name == "ilu0" ? Solver::incomplete : Solver::lu});
  if (name == "isai")
    return std::make_unique<IsaiPreconditioner>(system.op(), IsaiPreconditioner::Options{});
  return nullptr;
}

struct Outcome {
  SolveReport report;
  Vector x;
};
Outcome outcome_of(MatrixSystem& system, const KrylovEntry& entry,
                   const std::string& preconditioner, Mode mode, const Vector& b) {
  const auto inverse = collective_make(preconditioner, system);
  KrylovMethod::Options options;
  options.mode = mode;
  options.preconditioner = inverse.get();
  options.stop.tolerance = 1e-5;
  const auto method = entry.collective_make(system.op(), options);
  const SolveReport report = method->solve(system.part_of(b));
  return {report, Vector(method->solution().begin(), method->solution().end())};
}

}  // namespace

TEST_CASE("ranks, threads and modes change no bit, whatever the preconditioner") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const std::string preconditioner :
       {"none", "jacobi", "schwarz", "ilu0", "block-lu", "isai"}) {
    const ReferenceMatrix laplacian = tests::reference_matrix(spmv::Problem::parse("poisson2d:20"));
    const ReferenceMatrix unsymmetric =
        tests::reference_matrix(spmv::Problem::parse("convection3d:10x8x5,300,-100,20"));
    const ReferenceMatrix symmetric =
        preconditioner == "none" ? tests::shifted_laplacian(20, 0.2) : laplacian;
    const Vector b = tests::some_vector(unsymmetric.size());
    for (const std::string name : {"bicgstab", "bicgstab-pipelined", "fgmres", "gmres", "minres"}) {
      const KrylovEntry& entry = *find_krylov_method(name);
      if (name == "minres" && preconditioner == "isai") continue;  // this form is not symmetric
      const ReferenceMatrix& a = entry.needs_symmetric_matrix ? symmetric : unsymmetric;
      MatrixSystem together(world, a);
      MatrixSystem serial(alone, a, 1);
      const Outcome expected = outcome_of(serial, entry, preconditioner, Mode::vector, b);
      CAPTURE(preconditioner, name);
      CHECK(expected.report.status == SolveStatus::converged);
      const Vector own = together.part_of(expected.x);
      for (const Mode mode : {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task}) {
        CAPTURE(spmv::name(mode));
        const Outcome found = outcome_of(together, entry, preconditioner, mode, b);
        CHECK(found.report.iterations == expected.report.iterations);
        CHECK(found.report.restarts == expected.report.restarts);
        CHECK(std::bit_cast<std::uint64_t>(found.report.recurrence_residual) ==
              std::bit_cast<std::uint64_t>(expected.report.recurrence_residual));
        CHECK(std::ranges::equal(found.x, own, {}, std::bit_cast<std::uint64_t, double>,
                                 std::bit_cast<std::uint64_t, double>));
      }
    }
  }
}

}  // namespace weft::solver
