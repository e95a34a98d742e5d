#pragma once

#include <cstdint>

#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Sums over many segments that do not depend on how the rows are cut.
struct ResidualSums {
  /// `bound`: of r·r (spmv::CloseSum). `z_bound`: of r·z.
  ResidualSums(double bound, double z_bound) : r_dot_r(bound), r_dot_z(z_bound) {}

  spmv::CloseSum r_dot_r;
  spmv::CloseSum r_dot_z;  // z = D⁻¹·r; nothing is added without a preconditioner
};

/// The vector work of CG on one segment; each function passes once through memory.
///
/// `inverse_diagonal` is null without a preconditioner; z = D⁻¹·r is then r and is never stored.
/// All arrays: [count].

/// r -= alpha·q; adds r·r and r·z. Reads r, q, writes r: 24 bytes a row, 4 flops and those of the
/// sums.
void update_residual(double alpha, const double* q, const double* inverse_diagonal, double* r,
                     std::int64_t count, ResidualSums& sums);

/// r = b; adds r·r and r·z. Reads b, writes r.
void start_residual(const double* b, const double* inverse_diagonal, double* r, std::int64_t count,
                    ResidualSums& sums);

/// x += alpha·p, then p = z + beta·p. Reads x, p, r, writes x, p: 40 bytes a row, 4 flops.
/// The update of x waits for this pass, so that p is read once for both.
void update_solution_and_direction(double alpha, double beta, const double* r,
                                   const double* inverse_diagonal, double* x, double* p,
                                   std::int64_t count);

/// x += alpha·p: the last step. Reads x, p, writes x.
void update_solution(double alpha, const double* p, double* x, std::int64_t count);

/// Adds a·b. `Sum`: BinnedSum, CloseSum.
template <class Sum>
void add_product(const double* a, const double* b, std::int64_t count, Sum& sum);

/// Adds (D·a)·(E·b), with D or E or both left out where they are null.
template <class Sum>
void add_scaled_product(const double* d, const double* a, const double* e, const double* b,
                        std::int64_t count, Sum& sum);

/// Adds a·a, and (a - b)·(a - b).
void add_square(const double* a, std::int64_t count, spmv::BinnedSum& sum);
void add_difference_square(const double* a, const double* b, std::int64_t count,
                           spmv::BinnedSum& sum);

}  // namespace weft::solver
