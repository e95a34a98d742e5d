#pragma once

#include <array>
#include <cstdint>

#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// The vector work of the variants of CG with one reduction on one segment, in one pass.
///
/// `d`, `d_inverse`: the diagonal and its inverse, both null without a preconditioner. r = D·u is
/// never stored, and r·u is added with a preconditioner only. All arrays: [count].

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
                            std::array<spmv::CloseSum, 2>& sums);

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
                           std::array<spmv::CloseSum, 3>& sums);

/// Predict and recompute: x += α p, u -= α t, then with the β that was predicted p = u + β p,
/// t = D⁻¹ (w - α a) + β t; adds r·r, r·u, p·s, r·t, s·t, where s = D·t.
/// Reads and writes u, p, t, x, reads w, a: 80 bytes a row.
struct PredictRecomputeArrays {
  double* u;
  const double* w;  // A·u
  double* p;
  double* t;  // D⁻¹·A·p
  const double* a;  // A·t
  double* x;
};
void predict_recompute_pass(double alpha, double beta, const PredictRecomputeArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            std::array<spmv::CloseSum, 5>& sums);

}  // namespace weft::solver
