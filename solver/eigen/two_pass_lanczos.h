#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_vector.h"

namespace weft::solver {

/// The smallest or the largest eigenvalue of a symmetric matrix, with its vector, in the memory of
/// four vectors: Lanczos that keeps none of its basis, and makes it a second time to add the vector
/// up.
///
///     u_{j+1} = (A·u_j − α_j·u_j)/β_j − (β_j/β_{j−1})·u_{j−1},   α_j = ⟨u_j, A·u_j⟩/β_j²,
///     β_j = ‖u_j‖;   second pass: the same numbers, no sums, and x += (s_j/β_j)·u_j
///
/// The second pass repeats the first bit by bit, because products and numbers are the same bit by
/// bit, on any number of ranks and threads and in any mode. The basis is not kept orthogonal, so
/// that equal values, or the next ones, cannot be told from ghosts: there is one value.
///
/// Bytes a row and step: those of a product, 40 in the first pass, 56 in the second.
/// Source: Cullum, Willoughby 1985, "Lanczos Algorithms for Large Symmetric Eigenvalue
/// Computations", chapter 4.
class TwoPassLanczos {
 public:
  /// `options.count`: 1. Collective. Thread: the main thread, outside the team, as below. Lifetime:
  /// `op` outlives it.
  TwoPassLanczos(spmv::SparseOperator& op, const EigenOptions& options, SearchHooks hooks = {});

  /// Vectors in memory of a search: two of the recurrence, a product and the result.
  static constexpr double vector_count = 4;
  /// Vectors of a checkpoint of it.
  static double kept_vector_count(std::int64_t rows, const EigenOptions& options);
  /// Steps between two looks at whether the pair is found.
  static constexpr int steps_of_iteration = 4;

  /// Where it is stopped, or may take no step, the report has no pair. Collective. Throws
  /// comm_thread::MpiError, and comm_thread::InputError where a checkpoint to continue from is of
  /// another search.
  EigenReport collective_solve();

  /// The vector of the pair, of norm 1; its entry of largest modulus (the first of equal ones on
  /// the lowest rank) is positive. Shape: [row_count]. Collective.
  std::vector<double> collective_vector() const;

 private:
  using Vector = spmv::HaloVector<double>;

  std::size_t last_step() const { return alphas_.size(); }
  Vector& vector_of(std::size_t step) { return step % 2 == 0 ? *even_ : *odd_; }
  void start(const comm_thread::TeamThread& thread);
  void collective_sum_squares(const comm_thread::TeamThread& thread, const double* vector);
  void collective_step(const comm_thread::TeamThread& thread);
  void repeat_step(const comm_thread::TeamThread& thread, std::size_t step, double share);
  void advance(const comm_thread::TeamThread& thread, std::size_t step, double share);
  bool is_found();
  std::size_t most_steps() const;
  void collective_begin();
  bool collective_ends_steps(bool is_over, bool keeps);
  SearchKeeper::Size state_size() const;
  SearchState state();
  bool collective_take_state();
  void collective_first_pass();
  void collective_second_pass();
  EigenPair collective_true_pair();
  EigenReport report_of(const EigenPair& pair) const;

  spmv::SparseOperator& op_;
  EigenOptions options_;
  double unit_;  // a power of two, above ‖A‖; numbers of the recurrence are those of A/unit
  std::int64_t block_rows_;
  std::unique_ptr<Vector> even_;  // u_0, u_2, …
  std::unique_ptr<Vector> odd_;
  perfmodel::HugePageBuffer<double> product_;
  perfmodel::HugePageBuffer<double> result_;
  comm_thread::ReproducibleSum sum_;
  std::vector<double> alphas_;
  std::vector<double> betas_;  // one more than alphas, from β_0 on
  std::vector<double> shares_;  // s of the wanted Ritz vector
  double norm_ = 0;  // ‖A‖₂ from the outermost Ritz values
  double next_ = 0;  // the Ritz value after the wanted one
  bool is_invariant_ = false;  // nothing is left beside the space
  double factor_ = 1;  // the result times this has norm 1
  SearchKeeper keeper_;
  bool has_found_ = false;  // the first pass has
  bool is_stopped_ = false;
  std::size_t repeated_ = 0;  // steps of the second pass
  perfmodel::PhaseTimer timer_;
};

}  // namespace weft::solver
