#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "solver/choice/asymmetry.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/index.h"

namespace weft::solver {

inline constexpr std::int64_t most_rows_with_work = 100000;

/// Properties of a square matrix that decide which method and which preconditioner suit it; the
/// same on every rank, and on any number of ranks but for `largest_row_count`.
struct MatrixTraits {
  std::int64_t row_count = 0;
  std::int64_t nonzero_count = 0;
  std::int64_t largest_row_count = 0;  // rows of the rank that has most
  /// The first pair of entries that differ, by row, then by column; nothing where A = Aᵀ.
  std::optional<Asymmetry> asymmetry;
  std::int64_t zero_diagonal_count = 0;  // a zero or no entry
  std::int64_t negative_diagonal_count = 0;
  std::int64_t positive_off_diagonal_count = 0;
  std::int64_t dominant_row_count = 0;  // |a_ii| ≥ Σ|a_ij|, but for rounding
  std::int64_t zero_sum_row_count = 0;  // Σ a_ij = 0, but for rounding, beside other entries
  std::int64_t bandwidth = 0;  // the largest |i − j|
  /// Σ over the rows of the squared distance from the first entry to the diagonal: multiplications
  /// that factors within the envelope take. 0 where there are more than most_rows_with_work rows.
  std::int64_t envelope_work = 0;
  std::int64_t longest_row = 0;  // entries
  /// (|a_ii| − Σ|a_ij|) / |a_ii|: at least in every row; below 0 where a row is not dominant. By
  /// Gershgorin's theorem the eigenvalues of D⁻¹·A are in a circle about 1 of radius 1 −
  /// least_excess.
  double least_excess = -1;
  double least_diagonal = 0;  // magnitudes
  double largest_diagonal = 0;
  /// The grid that a symmetric matrix of at most five or seven entries a row has, rows along x, by
  /// the distances of the entries from the diagonal: 1, NX, NX·NY and no other. Whether rows at the
  /// ends of the grid end there is left to who uses it.
  std::optional<spmv::GridSize> grid{};
  /// Of an M-matrix with a diagonal that dominates: pairs of neighbours on `grid` without a
  /// coupling, or with one of less than 2⁻¹⁶ of a diagonal entry, in directions in which others
  /// have one.
  std::int64_t cut_coupling_count = 0;

  bool is_symmetric() const { return !asymmetry; }
  bool is_diagonal() const { return bandwidth == 0; }
  bool has_positive_diagonal() const {
    return zero_diagonal_count == 0 && negative_diagonal_count == 0;
  }
  bool is_dominant() const { return dominant_row_count == row_count; }
  /// A positive diagonal and no positive entry beside it.
  bool has_signs_of_m_matrix() const {
    return has_positive_diagonal() && positive_off_diagonal_count == 0;
  }
  /// A singular M-matrix whose null space holds the constant vector: Neumann's problem.
  bool has_constant_null_space() const {
    return row_count > 1 && zero_sum_row_count == row_count && has_signs_of_m_matrix();
  }
};

/// One pass over the entries of this rank by all threads, eight entries at a time, which takes two
/// to four products; of an M-matrix on a grid another one. Where entries differ from their
/// transposed ones, if by rounding only, `collective_find_asymmetry` makes another. Collective.
/// Thread: the main thread, outside the team.
MatrixTraits collective_find_traits(const spmv::SparseOperator& op);

/// Refuses a matrix that is not symmetric. `who` needs a symmetric one: "method=cg";
/// `instead`: what does not.
/// Throws comm_thread::InputError, where all ranks have the same traits on every rank alike.
void check_symmetric(const MatrixTraits& traits, const std::string& who,
                     const std::string& instead);

}  // namespace weft::solver
