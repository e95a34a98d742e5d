#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// The strong couplings of a rank's rows, and the diagonal to which the weak ones are added: the
/// filtered matrix A_F, whose rows have the same sums.
///
/// a_ij is strong if −a_ij ≥ threshold·max_k(−a_ik) for row i or for row j; in rows without
/// negative couplings magnitudes count. Weak couplings are not added where that would leave less
/// than a tenth of a_ii.
///
///     row of A     8 −4 −3 −0.5 0.5     threshold 0.25
///     row of A_F   8 −4 −3
class StrongRows {
 public:
  /// Collective. Thread: the main thread, outside the team.
  StrongRows(const comm_thread::Crew& crew, const LevelMatrix& level, double threshold);

  /// Columns, ascending in global number, without the diagonal, and values.
  std::span<const spmv::LocalIndex> columns(std::size_t row) const {
    return {columns_.data() + begins_[row], static_cast<std::size_t>(counts_[row])};
  }
  std::span<const double> values(std::size_t row) const {
    return {values_.data() + begins_[row], static_cast<std::size_t>(counts_[row])};
  }
  /// How many rows depend on `row`: for them its coupling is strong.
  int dependent_count(std::size_t row) const { return dependents_[row]; }
  /// The share of strong couplings of all ranks that are strong for one of their rows only. Near 0
  /// where coefficients are smooth; above a half where they vary at random by orders of magnitude.
  double one_way_share() const { return one_way_share_; }
  /// True if at most one of ten coupled rows of all ranks has more than two strong couplings: rows
  /// are links of chains, as where a plane's coefficients differ much in its two directions.
  bool is_of_chains() const { return is_of_chains_; }
  /// True if no row of all ranks has more than two strong couplings, and the weak ones of no row
  /// add up to more than a twentieth of its diagonal.
  bool has_only_chains() const { return has_only_chains_; }
  double diagonal(std::size_t row) const { return diagonal_[row]; }
  bool is_alone(std::size_t row) const { return counts_[row] == 0; }

 private:
  perfmodel::PageVector<std::size_t> begins_;
  perfmodel::PageVector<std::int32_t> counts_;
  perfmodel::PageVector<spmv::LocalIndex> columns_;
  perfmodel::PageVector<double> values_;
  perfmodel::PageVector<double> diagonal_;
  perfmodel::PageVector<std::int32_t> dependents_;
  double one_way_share_ = 0;
  bool is_of_chains_ = false;
  bool has_only_chains_ = false;
};

}  // namespace weft::solver::amg
