// A method that is added as CONTRIBUTING.md says: a class, and one line of a copy of the table.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {

TEST_CASE("a class and a line of the table are a method that solves and says what it needs") {
  const auto world = comm_thread::Communicator::collective_world();
  const auto reference = tests::reference_matrix(spmv::Problem::parse("poisson2d:9"));
  tests::MatrixSystem system(world, reference);
  const tests::Vector b = system.part_of(tests::some_vector(reference.size()));
  const KrylovEntry* const entry = find_krylov_method("steepest-descent");
  CHECK(std::ranges::count(krylov_methods(), std::string("steepest-descent"), &KrylovEntry::name) ==
        1);
  CHECK(names_of_methods(&MethodFacts::needs_symmetric_matrix).back() == "multigrid");
  CHECK(find_krylov_method("cg") == &krylov_methods().front());
  if (!entry) return;
  DiagonalPreconditioner jacobi(system.op());
  for (Preconditioner* const preconditioner : std::vector<Preconditioner*>{nullptr, &jacobi}) {
    const auto method = entry->collective_make(
        system.op(),
        {.preconditioner = preconditioner, .stop = {.tolerance = 1e-6}, .on_iteration = {}});
    const SolveReport report = method->solve(b);
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.relative_residual < 1.1e-6);
    CHECK(report.iterations > 50);
    CHECK(method->needs().arrays == method->array_count());
  }
}

}  // namespace weft::solver
