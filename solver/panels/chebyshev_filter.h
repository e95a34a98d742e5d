#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/panels/search_steps.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_vector.h"

namespace weft::solver {

/// The polynomial T_d(sign·(λ − center)/half) · factor: at most `factor` in magnitude where
/// |λ − center| <= half, and growing beyond that on the side of `sign`.
struct FilterPolynomial {
  double center = 0;
  double half = 1;
  double sign = 1;
  int degree = 1;
  double factor = 1;

  /// A / unit.
  static FilterPolynomial scaled(double unit) { return {.half = unit}; }
  /// One that damps [damped_begin, damped_end], and is 1 at `edge`, outside of it.
  static FilterPolynomial damping(double damped_begin, double damped_end, double edge, int degree);
};

/// The polynomial Σ c_k·T_k((λ − center)/half), k = 0 … degree. The degree is even, 2 or more.
struct FilterSeries {
  double center = 0;
  double half = 1;
  std::vector<double> coefficients{0.0, 0.0, 0.0};

  /// One that peaks at `place`, where it is 1: the delta function, cut off after that degree. As
  /// a function of the angle θ of cos θ = (λ − center)/half it is about sin(d·φ)/(d·φ) at the
  /// distance φ, and beyond the first zero at most 0.22 in magnitude. A search needs fewer products
  /// with it than with one whose ripples are damped, which is wider.
  /// Source: Li, Xi, Vecharynski, Yang, Saad 2016, "A thick-restart Lanczos algorithm with
  /// polynomial filtering for Hermitian eigenvalue problems".
  static FilterSeries peak(double center, double half, double place, int degree);

  int degree() const { return static_cast<int>(coefficients.size()) - 1; }
  double value(double lambda) const;
};

/// Applies polynomials of a matrix to panels of vectors, each product for all vectors of a panel at
/// once: the matrix is read once, and one message a neighbour carries the halos of all.
///
/// Bytes a row and product: those of the matrix, and 24 · width (the last vectors read, those
/// before read and written).
class PanelFilter {
 public:
  /// `width`: 1, 2, 4 or 8. Collective. Thread: the main thread, outside the team, as below.
  /// Lifetime: `op` outlives it.
  PanelFilter(spmv::SparseOperator& op, int width, spmv::Mode mode);

  /// y = p(A)·x. Shape: both [row_count · width], row by row; x and y differ. Collective. Throws
  /// comm_thread::MpiError.
  void collective_apply(const FilterPolynomial& polynomial, const double* x, double* y);

  /// The same within a run of the team; ends with a barrier. Thread: every thread of the team.
  void collective_apply(const comm_thread::TeamThread& thread, const FilterPolynomial& polynomial,
                        const double* x, double* y);

  /// The same for a series, whose sum costs 16 · width bytes a row more for each two products: y is
  /// read and written.
  void collective_apply(const comm_thread::TeamThread& thread, const FilterSeries& series,
                        const double* x, double* y);

  /// Writes to `steps` from now on what is done, unless it is null. Lifetime: `steps` outlives
  /// this.
  void record(SearchSteps* steps) { steps_ = steps; }
  /// Products of one vector so far.
  std::int64_t product_count() const { return product_count_; }

 private:
  using Vector = spmv::HaloVector<double>;

  void collective_multiply(const comm_thread::TeamThread& thread, Vector& x,
                           const spmv::OnBlockRows& on_rows);
  void note(int degree);

  spmv::SparseOperator& op_;
  int width_;
  spmv::Mode mode_;
  std::unique_ptr<Vector> even_;  // T₀, T₂, …
  std::unique_ptr<Vector> odd_;
  /// Of each thread for pieces of products; for one vector the whole product, once.
  std::vector<perfmodel::HugePageBuffer<double>> rooms_;
  perfmodel::PhaseTimer timer_;
  std::int64_t product_count_ = 0;
  SearchSteps* steps_ = nullptr;
};

}  // namespace weft::solver
