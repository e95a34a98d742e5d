#include "solver/precondition/interface_shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weft::solver {

void shift_interface(const OverlappingRows& piece, double shift, LocalMatrix& matrix) {
  if (shift == 1) return;
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    double excess = 0;  // of the diagonal over the rest of the row
    int diagonal = -1;
    for (int i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const bool is_diagonal = matrix.columns[place] == static_cast<int>(row);
      if (is_diagonal) diagonal = i;
      excess += is_diagonal ? matrix.values[place] : -std::abs(matrix.values[place]);
    }
    const double most = std::clamp(excess, 0.0, piece.cut[row]);
    if (most > 0) matrix.values[static_cast<std::size_t>(diagonal)] += -(1 - shift) * most;
  }
}

}  // namespace weft::solver
