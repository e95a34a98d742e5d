#include "library/solve/symmetry_check.h"

#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/methods/method_table.h"

namespace weft::library {

solver::MatrixTraits collective_find_given_traits(const spmv::SparseOperator& matrix,
                                                  const CollectiveGivenRow& given_row) {
  solver::MatrixTraits traits = solver::collective_find_traits(matrix);
  if (!traits.asymmetry || !given_row) return traits;
  solver::Asymmetry& found = *traits.asymmetry;
  found.row = given_row(found.row);
  found.column = given_row(found.column);
  if (found.row > found.column) {
    std::swap(found.row, found.column);
    std::swap(found.value, found.transposed);
  }
  return traits;
}

void check_symmetry(const SolveSettings& settings, const solver::MatrixTraits& traits,
                    const std::string& name) {
  // What divides by a zero is refused for that, wherever the matrix is not symmetric, too.
  if (settings.force || (settings.has_jacobi() && traits.zero_diagonal_count > 0)) return;
  const solver::KrylovEntry* const entry = solver::find_krylov_method(settings.method);
  if (entry && !entry->needs_symmetric_matrix) return;
  try {
    solver::check_symmetric(traits, comm_thread::option_name("method", settings.method),
                            comm_thread::option_name("method", "gmres or bicgstab"));
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(name.empty() ? error.what() : name + ": " + error.what());
  }
}

}  // namespace weft::library
