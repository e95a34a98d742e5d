#include "solver/direct/incomplete_factor.h"

#include <cmath>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {

IncompleteFactor::IncompleteFactor(LocalMatrix matrix, const Fault& fault)
    : factors_(std::move(matrix)),
      diagonal_(factors_.size()),
      inverse_pivots_(factors_.size()),
      solution_(factors_.size()) {
  std::vector<int> place_of_column(factors_.size(), -1);
  for (int row = 0; row < static_cast<int>(factors_.size()); ++row) {
    const double entry = diagonal_entry(row);
    if (!eliminate(row, entry, place_of_column))
      throw comm_thread::InputError(fault(row, entry, diagonal_entry(row)));
  }
}

/// Of A before its row is eliminated, of U behind that; 0 where there is none.
double IncompleteFactor::diagonal_entry(int row) const {
  const auto index = static_cast<std::size_t>(row);
  for (auto place = static_cast<std::size_t>(factors_.row_begin[index]);
       place < static_cast<std::size_t>(factors_.row_begin[index + 1]); ++place)
    if (factors_.columns[place] == row) return factors_.values[place];
  return 0;
}

/// Takes the rows above out of `row`, which has `entry` on the diagonal. False where its pivot
/// cannot be divided by. `place_of_column`: -1 but for the columns of the row, and again at the
/// end.
bool IncompleteFactor::eliminate(int row, double entry, std::vector<int>& place_of_column) {
  std::vector<double>& values = factors_.values;
  const auto index = static_cast<std::size_t>(row);
  const auto column = [&](int place) {
    return static_cast<std::size_t>(factors_.columns[static_cast<std::size_t>(place)]);
  };
  const int begin = factors_.row_begin[index];
  const int end = factors_.row_begin[index + 1];
  for (int place = begin; place < end; ++place) place_of_column[column(place)] = place;
  for (int place = begin; place < end && column(place) < index; ++place) {
    const std::size_t above = column(place);
    const double factor = values[static_cast<std::size_t>(place)] *= inverse_pivots_[above];
    for (int other = diagonal_[above] + 1; other < factors_.row_begin[above + 1]; ++other)
      if (const int target = place_of_column[column(other)]; target >= 0)
        values[static_cast<std::size_t>(target)] -=
            factor * values[static_cast<std::size_t>(other)];
  }
  const int place = place_of_column[index];
  for (int i = begin; i < end; ++i) place_of_column[column(i)] = -1;
  // Less than this share of an entry is the rounding of what was subtracted from it.
  constexpr double least_share = 1e-14;
  if (place < 0) return false;
  const double pivot = values[static_cast<std::size_t>(place)];
  if (!std::isfinite(pivot) || !std::isfinite(1 / pivot)) return false;
  if (!(std::abs(pivot) > least_share * std::abs(entry))) return false;
  diagonal_[index] = place;
  inverse_pivots_[index] = 1 / pivot;
  is_definite_ = is_definite_ && pivot > 0;
  return true;
}

std::span<const double> IncompleteFactor::solve(int /*thread*/, std::span<double> right_hand_side) {
  const double* const values = factors_.values.data();
  const int* const columns = factors_.columns.data();
  double* const x = solution_.data();
  const std::size_t size = factors_.size();
  for (std::size_t row = 0; row < size; ++row) {
    double sum = right_hand_side[row];
    for (int i = factors_.row_begin[row]; i < diagonal_[row]; ++i) sum -= values[i] * x[columns[i]];
    x[row] = sum;
  }
  for (std::size_t row = size; row-- > 0;) {
    double sum = x[row];
    for (int i = diagonal_[row] + 1; i < factors_.row_begin[row + 1]; ++i)
      sum -= values[i] * x[columns[i]];
    x[row] = sum * inverse_pivots_[row];
  }
  return solution_;
}

}  // namespace weft::solver
