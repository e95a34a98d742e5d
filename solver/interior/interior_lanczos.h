#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/checkpoint/checkpoint_file.h"
#include "solver/direct/small_matrix.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/energy_range.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/search_keeper.h"
#include "solver/interior/filtered_space.h"
#include "solver/interior/spectral_estimate.h"
#include "solver/panels/chebyshev_filter.h"
#include "solver/spectrum/spectral_interval.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Eigenvalues in the interior of the spectrum of a symmetric matrix, with their vectors: those
/// nearest to a number, or all in an interval. Thick-restart block Lanczos on a polynomial of the
/// matrix that peaks at the number, or in the middle of the interval, so that what is wanted there
/// has the greatest values.
///
///     p(λ)          ___
///                  /   \           bar: p at the ends of the interval. Whatever is above it is
///     bar - - - -/- - - -\- - -    wanted, and nothing else
///     ___~~_~~__/_________\__~~_~
///               A         B
///
/// The kernel polynomial method estimates how many eigenvalues lie where, which says how steep the
/// polynomial and how large the search space should be. Pairs and their residuals are those of A in
/// the span of the vectors above the bar. Where a value has as many copies as all random blocks
/// together have vectors, the search goes on with another one.
///
/// The bits of values and vectors are the same on any number of ranks and threads and in any mode.
/// Memory: `subspace` + 3 · width vectors. Source: Li, Xi, Vecharynski, Yang, Saad 2016, "A
/// thick-restart Lanczos algorithm with polynomial filtering for Hermitian eigenvalue problems".
class InteriorLanczos {
 public:
  /// `options`: of the interior. Collective. Thread: the main thread, outside the team, as
  /// below. Lifetime: `op` outlives it. Throws comm_thread::InputError where `count` is more than
  /// the matrix can have, and where the interval lies outside of what its norm allows.
  InteriorLanczos(spmv::SparseOperator& op, const EigenOptions& options, SearchHooks hooks = {});

  /// Vectors in memory of a search for the values near a number, for a matrix of so many rows.
  static double vector_count(std::int64_t rows, const EigenOptions& options);
  /// Vectors of a checkpoint of it.
  static double kept_vector_count(std::int64_t rows, const EigenOptions& options);

  /// Pairs in ascending order of values; where it is stopped, those that have converged.
  /// Collective. Throws comm_thread::InputError where the interval has too many eigenvalues or a
  /// checkpoint to continue from is of another search, and comm_thread::MpiError.
  EigenReport collective_solve();

  /// The least range that holds all pairs of the report, and, where they are complete, no other:
  /// the interval, or all that is no farther from the number.
  const EnergyRange& range() const { return range_; }

  /// The vector of a pair of the report, of norm 1; its entry of largest modulus (the first of
  /// equal ones on the lowest rank) is positive. Shape: [row_count]. Collective.
  std::vector<double> collective_vector(int number) const;

 private:
  static constexpr int more_panels = 1;  // in memory beside those of a space
  static int fitting_panels(std::int64_t rows, int wanted, const EigenOptions& options);

  bool is_near() const { return !options_.interval; }
  EigenReport collective_search_whole();
  EigenReport collective_search_from_end();
  void note_range(const EigenReport& report);
  EnergyRange range_for(const SpectralEstimate& estimate) const;
  bool is_outside() const;
  EigenReport report_of(bool is_found);
  void make_space(double expected);
  FilterSeries series_for(const EnergyRange& range) const;
  void take_filter(const EnergyRange& range);
  double bar_of(const EnergyRange& range) const;
  int count_in_interval(const SymmetricEigen& found) const;
  int count_above(const SymmetricEigen& found, double bar) const;
  EnergyRange wanted_range() const;
  bool are_converged() const;
  bool are_equally_near() const;
  bool collective_find_pairs(const SymmetricEigen& found, int kept);
  bool collective_follow();
  bool lacks_copies() const;
  std::vector<int> choose(const std::vector<double>& values) const;
  bool seems_found() const;
  void collective_fill_space();
  bool collective_search(bool continues);
  template <class Carry>
  void for_each_number(const Carry& carry);
  std::int64_t product_count() const;
  void collective_prepare_keeper();
  SolveIdentity collective_identity();
  SearchState state();
  bool collective_take_state();
  bool collective_ends_step();

  spmv::SparseOperator& op_;
  EigenOptions options_;
  int width_;
  double unit_ = 1;  // a power of two near ‖A‖
  double norm_ = 0;
  SpectralInterval spectrum_;
  EnergyRange range_;
  EnergyRange first_range_;  // where the first filter is large
  EnergyRange filter_range_;  // where the present one is
  FilterSeries series_;
  std::optional<FilteredSpace> space_;
  std::optional<FilteredLanczos> from_end_;  // of a number outside of the spectrum
  RitzPairs pairs_;  // of what is above the bar
  std::vector<int> chosen_;  // the pairs of the report among these, or among those of `from_end_`
  int wanted_ = 0;  // vectors above the bar
  int restarts_ = 0;
  int blocks_ = 1;
  int filters_ = 0;
  std::int64_t earlier_products_ = 0;  // of what is gone
  SearchHooks hooks_;
  SearchKeeper keeper_;
  std::int64_t steps_ = 0;
  bool is_stopped_ = false;
};

}  // namespace weft::solver
