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

double conjugate_gradient_flops(double nonzero_count, double row_count, bool jacobi) {
  return 2 * nonzero_count + (jacobi ? 12 : 10) * row_count;
}

double gmres_flops(double nonzero_count, double row_count, int restart, bool jacobi) {
  return 2 * nonzero_count + (4.0 * (restart + 1) + (jacobi ? 8 : 7)) * row_count;
}

double krylov_flops(double nonzero_count, double row_count, double products, double vector_flops,
                    bool jacobi) {
  return 2 * products * nonzero_count + (vector_flops + (jacobi ? products : 0)) * row_count;
}

}  // namespace weft::perfmodel
