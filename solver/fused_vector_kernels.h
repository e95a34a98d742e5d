#pragma once

#include <cstdint>

namespace weft::solver {

/// Two sums over one row block.
struct ResidualSums {
  double r_dot_r = 0;
  double r_dot_z = 0;  // z = D⁻¹·r; equal to r_dot_r without a preconditioner
};

/// The vector work of CG on one row block; each function passes once through memory.
///
/// `inverse_diagonal` is null without a preconditioner; z = D⁻¹·r is then r and is never stored.
/// Sums are taken in the order of spmv::BlockSum. All arrays: [count].

/// r -= alpha·q; returns r·r and r·z. Reads r, q, writes r: 24 bytes a row, 4 flops.
ResidualSums update_residual(double alpha, const double* q, const double* inverse_diagonal,
                             double* r, std::int64_t count);

/// x += alpha·p, then p = z + beta·p. Reads x, p, r, writes x, p: 40 bytes a row, 4 flops.
/// The update of x waits for this pass, so that p is read once for both.
void update_solution_and_direction(double alpha, double beta, const double* r,
                                   const double* inverse_diagonal, double* x, double* p,
                                   std::int64_t count);

/// r = b - q; returns r·r and r·z. Reads b, q, writes r: 24 bytes a row.
ResidualSums form_residual(const double* b, const double* q, const double* inverse_diagonal,
                           double* r, std::int64_t count);

/// p = z: the first direction. Reads r, writes p.
void start_direction(const double* r, const double* inverse_diagonal, double* p,
                     std::int64_t count);

}  // namespace weft::solver
