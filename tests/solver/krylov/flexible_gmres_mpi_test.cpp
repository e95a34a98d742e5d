#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::convection;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::some_vector;
using tests::Vector;

/// z = r/d, where d is another one each time.
class Changing final : public Preconditioner {
 public:
  explicit Changing(const spmv::LinearOperator& op) : op_(op), calls_(64) {}

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    const int call = calls_[static_cast<std::size_t>(thread.index)]++;
    for (const spmv::Segment& segment : op_.segments(thread.index))
      for (std::size_t i = segment.begin;
           i < segment.begin + static_cast<std::size_t>(segment.count); ++i)
        z[i] = r[i] / (1 + (static_cast<int>(op_.global_row(i)) + call) % 3);
    thread.barrier();
  }
  double norm() const override { return 1; }
  bool is_symmetric() const override { return true; }

 private:
  const spmv::LinearOperator& op_;
  std::vector<int> calls_;  // of each thread
};

SolveReport report_of(MatrixSystem& system, const std::string& name, const Vector& b,
                      const KrylovMethod::Options& options) {
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  return method->solve(system.part_of(b));
}

}  // namespace

TEST_CASE("with a linear preconditioner fgmres takes the iterations of gmres") {
  const ReferenceMatrix a = convection(12);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  DiagonalPreconditioner jacobi(system.op());
  for (Preconditioner* const preconditioner : std::vector<Preconditioner*>{nullptr, &jacobi})
    for (const int restart : {5, 100}) {
      KrylovMethod::Options options;
      options.preconditioner = preconditioner;
      options.restart = restart;
      const Vector b = some_vector(a.size());
      const SolveReport fixed = report_of(system, "gmres", b, options);
      const SolveReport flexible = report_of(system, "fgmres", b, options);
      CHECK(flexible.status == SolveStatus::converged);
      CHECK(flexible.iterations == fixed.iterations);
      CHECK(flexible.relative_residual == Approx(fixed.relative_residual));
    }
}

TEST_CASE(
    "where the preconditioner changes in every iteration, fgmres needs no more than a cycle") {
  const ReferenceMatrix a = convection(12);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  KrylovMethod::Options options;
  options.restart = 144;
  const Vector b = some_vector(a.size());
  Changing for_flexible(system.op());
  options.preconditioner = &for_flexible;
  const SolveReport flexible = report_of(system, "fgmres", b, options);
  CHECK(flexible.status == SolveStatus::converged);
  CHECK(flexible.restarts == 0);
  Changing for_fixed(system.op());
  options.preconditioner = &for_fixed;
  const SolveReport fixed = report_of(system, "gmres", b, options);
  CHECK((fixed.status != SolveStatus::converged || fixed.restarts > 0));
}

}  // namespace weft::solver
