#include "library/solve/solvable_system.h"

#include <cmath>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/solve/value_range.h"
#include "solver/methods/method_table.h"

namespace weft::library {

using comm_thread::InputError;
using comm_thread::option_name;

solver::MatrixTraits collective_find_given_traits(const spmv::SparseOperator& matrix,
                                                  const CollectiveGivenRow& given_row) {
  solver::MatrixTraits traits = solver::collective_find_traits(matrix);
  if (!traits.asymmetry || !given_row) return traits;
  solver::Asymmetry& found = *traits.asymmetry;
  found.row = given_row(found.row);
  found.column = given_row(found.column);
  if (found.row <= found.column) return traits;
  std::swap(found.row, found.column);
  std::swap(found.value, found.transposed);
  return traits;
}

void check_symmetry(const SolveSettings& settings, const solver::MatrixTraits& traits,
                    const std::string& name) {
  // What divides by a zero is refused for that, wherever the matrix is not symmetric, too.
  if (settings.force || (settings.has_jacobi() && traits.zero_diagonal_count > 0)) return;
  const solver::KrylovEntry* const entry = solver::find_krylov_method(settings.method);
  if (entry && !entry->needs_symmetric_matrix) return;
  try {
    solver::check_symmetric(traits, option_name("method", settings.method),
                            option_name("method", "gmres or bicgstab"));
  } catch (const InputError& error) {
    throw InputError(name.empty() ? error.what() : name + ": " + error.what());
  }
}

void SolvableSystem::collective_look() {
  null_space_.reset();
  null_space_text_.clear();
  rows_.forget();
  traits_.reset();
  collective_bring_into_range();
  op_ = multiple_ ? &*multiple_ : &given_;
  matrix_ = dynamic_cast<spmv::SparseOperator*>(&op());
  if (!matrix_) {
    if (!asked_.null_space.empty() && asked_.null_space != "none")
      throw InputError(option_name("null-space") +
                       ": found an operator without a matrix; expected a matrix");
    return;
  }
  collective_find_traits();
  rows_.collective_look(*matrix_, *traits_);
  if (rows_.has_copy()) traits_->grid.reset();  // its couplings jump from point to point
  // `auto` takes a method that suits the matrix.
  if (asked_.method != "auto") check_symmetry(asked_, *traits_, context_.name);
  collective_find_null_space();
}

/// Nobody knows what a preconditioner of the caller makes of other values.
void SolvableSystem::collective_bring_into_range() {
  multiple_.reset();
  exponent_ = 0;
  is_finite_ = true;
  auto* const given = dynamic_cast<spmv::SparseOperator*>(&given_);
  if (!given || context_.collective_make_preconditioner) return;
  const ValueRange range = collective_range_of(*given);
  is_finite_ = std::isfinite(range.largest);
  exponent_ = range.exponent;
  if (exponent_ != 0) multiple_.emplace(collective_multiple(*given, exponent_));
}

void SolvableSystem::collective_find_traits() {
  traits_ = collective_find_given_traits(*matrix_, context_.collective_given_row);
}

void SolvableSystem::collective_find_null_space() {
  const std::string& word = asked_.null_space;
  if (word == "none" || (word.empty() && !traits_->has_constant_null_space())) return;
  null_space_text_ =
      word.empty() ? "constant, because the matrix is an M-matrix whose rows all add up to zero"
                   : word;
  std::vector<double> vector;
  if (!word.empty() && word != "constant") {
    if (!context_.collective_read)
      throw InputError(option_name("null-space") + ": found the file " + word +
                       "; expected constant or none");
    vector = context_.collective_read(word);
  }
  try {
    null_space_ = std::make_unique<solver::NullSpace>(*matrix_, vector);
  } catch (const InputError& error) {
    throw InputError(option_name("null-space", word) + ": " + error.what());
  }
}

}  // namespace weft::library
