#pragma once

#include <array>
#include <cstdint>

#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// The vector work of the variants of CG with one reduction on one segment, in one pass.
///
/// `d`, `d_inverse`: the diagonal and its inverse, both null without a preconditioner. r = D·u is
/// never stored. All arrays: [count].

/// Adds r·r and r·u.
void add_squares_of_u(const double* u, const double* d, std::int64_t count, spmv::CloseSum& r_dot_r,
                      spmv::CloseSum& r_dot_u);

/// Adds a·b.
void add_product(const double* a, const double* b, std::int64_t count, spmv::CloseSum& sum);

/// Chronopoulos–Gear: p = u + β p, s = w + β s, x += α p, u -= α D⁻¹ s; adds r·r, r·u.
/// Reads and writes u, p, s, x, reads w: 72 bytes a row.
struct ChronopoulosGearArrays {
  double* u;
  const double* w;  // A·u
  double* p;
  double* s;  // A·p
  double* x;
};
void chronopoulos_gear_pass(double alpha, double beta, const ChronopoulosGearArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            spmv::CloseSum& r_dot_r, spmv::CloseSum& r_dot_u);

/// Ghysels–Vanroose: z = n + β z, s = w + β s, p = u + β p, x += α p, u -= α D⁻¹ s, w -= α z,
/// m = D⁻¹ w; adds r·r, r·u, w·u. Reads and writes u, w, p, s, z, x, reads n: 104 bytes a row,
/// with a preconditioner 128.
struct GhyselsVanrooseArrays {
  double* u;
  double* w;  // A·u; m itself without a preconditioner
  double* m;  // D⁻¹·w
  const double* n;  // A·m
  double* p;
  double* s;  // A·p
  double* z;  // A·D⁻¹·s
  double* x;
};
void ghysels_vanroose_pass(double alpha, double beta, const GhyselsVanrooseArrays& v,
                           const double* d, const double* d_inverse, std::int64_t count,
                           spmv::CloseSum& r_dot_r, spmv::CloseSum& r_dot_u,
                           spmv::CloseSum& w_dot_u);

/// Predict and recompute: x += α p, u -= α t, then with the β that was predicted p = u + β p,
/// t = D⁻¹ (w - α a) + β t; adds what the next prediction needs.
/// Reads and writes u, p, t, x, reads w, a: 80 bytes a row.
struct PredictRecomputeArrays {
  double* u;
  const double* w;  // A·u
  double* p;
  double* t;  // D⁻¹·A·p
  const double* a;  // A·t
  double* x;
};
struct PredictRecomputeSums {
  /// `bounds`: of the sums, in order.
  explicit PredictRecomputeSums(const std::array<double, 5>& bounds)
      : r_dot_r(bounds[0]),
        r_dot_u(bounds[1]),
        p_dot_s(bounds[2]),
        r_dot_t(bounds[3]),
        s_dot_t(bounds[4]) {}

  spmv::CloseSum r_dot_r;
  spmv::CloseSum r_dot_u;
  spmv::CloseSum p_dot_s;  // s = D·t = A·p
  spmv::CloseSum r_dot_t;
  spmv::CloseSum s_dot_t;
};
void predict_recompute_pass(double alpha, double beta, const PredictRecomputeArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            PredictRecomputeSums& sums);

}  // namespace weft::solver
