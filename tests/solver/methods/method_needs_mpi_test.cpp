// What classes say of their vectors is what their objects have.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {

TEST_CASE("a method has as many vectors as it says, and other forms on a grid") {
  const auto world = comm_thread::Communicator::collective_world();
  const auto problem = spmv::Problem::parse("poisson3d:6");
  tests::MatrixSystem system(world, tests::reference_matrix(problem));
  spmv::SparseOperator& matrix = system.op();
  spmv::StencilOperator grid(world, system.comm_thread(), matrix.team(),
                             spmv::GridStencil::of(problem));
  DiagonalPreconditioner diagonal(matrix);
  DiagonalPreconditioner diagonal_of_grid(grid);
  IsaiPreconditioner general(matrix, {.form = IsaiPreconditioner::Form::symmetric});
  const auto check = [&](const KrylovEntry& entry, spmv::LinearOperator& op, bool is_grid,
                         Preconditioner* preconditioner) {
    const KrylovMethod::Options options{
        .preconditioner = preconditioner, .stop = {}, .restart = 7, .on_iteration = {}};
    const auto method = entry.collective_make(op, options);
    MethodUse use = KrylovMethod::use_of(op, options);
    use.is_grid = is_grid;
    CAPTURE(entry.name, is_grid, preconditioner != nullptr, use.is_general());
    const MethodNeeds needs = entry.needs(use);
    CHECK(needs.arrays == method->array_count());
    CHECK(needs.state == method->needs().state);
    CHECK(needs.carried == method->needs().carried);
    CHECK(needs.carried <= needs.arrays);
  };
  for (const KrylovEntry& entry : krylov_methods()) {
    if (entry.needs_grid) continue;
    for (Preconditioner* const m : std::vector<Preconditioner*>{nullptr, &diagonal, &general})
      check(entry, matrix, false, m);
    check(entry, grid, true, nullptr);
    check(entry, grid, true, &diagonal_of_grid);
  }
}

TEST_CASE("a checkpoint of cg-pipelined has six vectors, and of a grid's cg-one-reduction three") {
  CHECK(find_krylov_method("cg-pipelined")->needs({}).carried == 6);
  CHECK(find_krylov_method("cg-one-reduction")->needs({}).carried == 4);
  CHECK(find_krylov_method("cg-one-reduction")->needs({.is_grid = true}).carried == 3);
  CHECK(find_krylov_method("cg-one-reduction")->needs({.is_grid = true}).arrays == 3);
  CHECK(find_krylov_method("multigrid")->needs({.is_grid = true}).carried == 2);
}

}  // namespace weft::solver
