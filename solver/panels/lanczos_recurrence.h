#pragma once

#include <cstdint>
#include <vector>

#include "solver/panels/block_basis.h"
#include "solver/panels/chebyshev_filter.h"
#include "solver/panels/search_steps.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// What some steps of Lanczos tell of a spectrum. Shape: all of the number of steps; by ascending
/// values.
struct RitzValues {
  std::vector<double> values;
  std::vector<double> errors;  // an eigenvalue lies within that distance
  /// The square of the random vector's part: about the share of all eigenvalues that are near. They
  /// add up to 1.
  std::vector<double> weights;
};

/// Lanczos from one random vector, whose last three vectors alone are kept: Ritz values that have
/// been found may come again, with hardly any weight.
/// Thread: the main thread, outside the team. Memory: six vectors. The same bits on any number of
/// ranks and threads and in any mode.
class LanczosRecurrence {
 public:
  /// Names the random vector: no column of a density or of a search has this number.
  static constexpr std::int64_t random_column = std::int64_t{1} << 40;

  /// `steps`: gets what is done, unless it is null. Collective. Lifetime: `op` and `steps` outlive
  /// it.
  LanczosRecurrence(spmv::SparseOperator& op, spmv::Mode mode, SearchSteps* steps = nullptr);

  /// Goes on until so many steps are done, or nothing is left. Collective. Throws
  /// comm_thread::MpiError.
  void collective_go_on(std::int64_t steps);

  std::int64_t step_count() const { return static_cast<std::int64_t>(diagonal_.size()); }
  /// True if the vectors span all that the first one reaches.
  bool is_whole() const { return is_whole_; }
  /// Products of one vector.
  std::int64_t product_count() const { return product_.product_count(); }
  RitzValues ritz_values() const;

 private:
  double collective_normalise(double* vector);
  void collective_step();

  double unit_;  // products are no longer than 1
  PanelFilter product_;
  BlockBasis basis_;  // the last vector but one, the last, the next
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  double scale_ = 0;
  bool is_whole_ = false;
};

}  // namespace weft::solver
