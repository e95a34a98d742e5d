#include "solver/precondition/interface_shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace weft::solver {

void shift_interface(const OverlappingRows& piece, double shift, LowerTriangle& matrix) {
  if (shift == 1) return;
  std::vector<double> excess(matrix.size);  // of the diagonal over the rest of the row
  for (const LowerTriangle::Entry& entry : matrix.entries) {
    const auto row = static_cast<std::size_t>(entry.row);
    const auto column = static_cast<std::size_t>(entry.column);
    if (row == column) {
      excess[row] += entry.value;
    } else {
      excess[row] -= std::abs(entry.value);
      excess[column] -= std::abs(entry.value);
    }
  }
  for (std::size_t row = 0; row < matrix.size; ++row) {
    const double most = std::clamp(excess[row], 0.0, piece.cut[row]);
    if (most == 0) continue;
    const int index = static_cast<int>(row);
    matrix.entries.push_back({index, index, -(1 - shift) * most});
  }
}

}  // namespace weft::solver
