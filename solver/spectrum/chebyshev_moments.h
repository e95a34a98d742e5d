#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/spectrum/spectral_interval.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_vector.h"

namespace weft::solver {

/// Moments μ_m = ⟨x, T_m(B)·x⟩ of vectors x, where B is a symmetric matrix, moved and scaled so
/// that an interval that holds its spectrum becomes [−1, 1].
///
/// The vectors of a block are multiplied at once, and each product gives two moments:
///
///     t_k = 2·B·t_{k−1} − t_{k−2},   μ_{2k−1} = 2⟨t_k, t_{k−1}⟩ − μ_1,   μ_{2k} = 2⟨t_k, t_k⟩ −
///     μ_0
///
/// Bytes a row and product: those of the matrix, and 24 · width, because t_k takes the place of
/// t_{k−2} and is summed while it is in cache. Sums over rows: each row block in one order, which
/// depends neither on the width nor on what else the rank does, and the blocks exactly; so a moment
/// has the same bits on any number of ranks and threads, in any mode and at any width.
/// Source: Weiße, Wellein, Alvermann, Fehske 2006, "The kernel polynomial method", section II.D.
class ChebyshevMoments {
 public:
  /// Fills rows begin … begin + count - 1 of this rank. Shape: x: [count · width], row by row.
  /// Thread: each of the team for its own rows.
  using Fill = std::function<void(std::size_t begin, std::int64_t count, double* x)>;

  /// `width`: 1, 2, 4, 8 or 16. Collective. Thread: the main thread, outside the team, as below.
  /// Lifetime: `op` outlives it.
  ChebyshevMoments(spmv::SparseOperator& op, int width, spmv::Mode mode);

  /// Makes the first `count` moments, two or more. False if moments grow: then an eigenvalue lies
  /// outside of the interval. Collective. Throws comm_thread::MpiError.
  bool collective_make(const SpectralInterval& interval, int count, const Fill& fill);

  /// The moments of one vector of the block. Shape: [count].
  std::vector<double> moments(int column) const;

  int width() const { return width_; }
  /// Products of one vector so far.
  std::int64_t product_count() const { return product_count_; }
  /// Arrays of [row_count] that a block takes.
  static int vector_count(int width) { return 2 * width; }

 private:
  using Vector = spmv::HaloVector<double>;
  enum class Dot { with_last, with_itself };

  double* room(int thread) { return rooms_[static_cast<std::size_t>(thread)].data(); }
  std::size_t place(int step, Dot dot, int column) const;
  void add_block(int thread, int step, const double* last, const double* next, std::int64_t begin,
                 std::int64_t count);
  void add_blocks(int thread, int step, const double* last, const double* next, std::size_t begin,
                  std::int64_t count);
  void collective_step(const comm_thread::TeamThread& thread, const SpectralInterval& interval,
                       int step);
  bool collective_take_sums(const comm_thread::TeamThread& thread, int step, int last_step);

  spmv::SparseOperator& op_;
  int width_;
  spmv::Mode mode_;
  std::int64_t block_rows_;
  int count_ = 0;
  std::unique_ptr<Vector> even_;  // t_0, t_2, …
  std::unique_ptr<Vector> odd_;
  /// Of each thread for pieces of products; for one vector the whole product, once.
  std::vector<perfmodel::HugePageBuffer<double>> rooms_;
  comm_thread::ReproducibleSum sums_;  // [steps_at_once][2][width]
  std::vector<double> dots_;  // [steps + 1][2][width]
  perfmodel::PhaseTimer timer_;
  std::int64_t product_count_ = 0;
};

}  // namespace weft::solver
