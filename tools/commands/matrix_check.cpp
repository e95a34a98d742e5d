#include "tools/commands/matrix_check.h"

#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "solver/methods/method_table.h"

namespace weft::tools {

solver::MatrixTraits collective_find_given_traits(const Job& job, const SolveSystem& system,
                                                  const spmv::SparseOperator& matrix) {
  solver::MatrixTraits traits = solver::collective_find_traits(matrix);
  if (!traits.asymmetry) return traits;
  solver::Asymmetry& found = *traits.asymmetry;
  found.row = system.collective_given_row(job, found.row);
  found.column = system.collective_given_row(job, found.column);
  if (found.row > found.column) {
    std::swap(found.row, found.column);
    std::swap(found.value, found.transposed);
  }
  return traits;
}

void check_symmetry(const SolveOptions& options, const solver::MatrixTraits& traits,
                    const std::string& problem) {
  // What divides by a zero is refused for that, wherever the matrix is not symmetric, too.
  if (options.force || (options.has_jacobi() && traits.zero_diagonal_count > 0)) return;
  const solver::KrylovEntry* const entry = solver::find_krylov_method(options.method);
  if (entry && !entry->needs_symmetric_matrix) return;
  try {
    solver::check_symmetric(traits, "--method " + options.method, "--method gmres or bicgstab");
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem + ": " + error.what());
  }
}

}  // namespace weft::tools
