#include "perfmodel/traffic_model.h"

namespace weft::perfmodel {

double crs_code_balance(double nonzeros_per_row, double kappa) {
  return 6 + 12 / nonzeros_per_row + kappa / 2;
}

double spmv_bytes(double matrix_bytes, double row_count) { return matrix_bytes + 24 * row_count; }

double multigrid_flops(double row_count, int steps) {
  const double before = steps == 1 ? 1 : 1 + 9 + 11 * (steps - 2);
  const double after = 9 + 11 * (steps - 1);
  const double smoothing_and_transfers = before + 8 + 5 + 3.5 + after;
  constexpr double residual_and_update = 11 + 4;
  return row_count * (smoothing_and_transfers * 8 / 7 + residual_and_update);
}

}  // namespace weft::perfmodel
