#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// The strong couplings of a row: values and columns, ascending in global number, without the
/// diagonal.
///
///     for (const auto& [value, column] : strong.couplings(row))
class StrongCouplings {
 public:
  using Word = std::uint32_t;
  static constexpr std::size_t word_bits = 32;

  class Iterator {
   public:
    Iterator(const StrongCouplings& row)
        : word_(row.words_.data()),
          end_(row.words_.data() + row.words_.size()),
          columns_(row.columns_),
          values_(row.values_) {
      if (word_ == end_) return;
      bits_ = *word_;
      find_bit();
    }
    Coupling<double> operator*() const {
      const int place = std::countr_zero(bits_);
      return {values_[place], columns_[place]};
    }
    Iterator& operator++() {
      bits_ &= bits_ - 1;
      find_bit();
      return *this;
    }
    bool operator==(std::default_sentinel_t /*end*/) const { return bits_ == 0; }

   private:
    void find_bit() {
      while (bits_ == 0 && ++word_ != end_) {
        bits_ = *word_;
        columns_ += word_bits;
        values_ += word_bits;
      }
    }

    const Word* word_;
    const Word* end_;
    Word bits_ = 0;
    const spmv::LocalIndex* columns_;
    const double* values_;
  };

  StrongCouplings(std::span<const Word> words, const spmv::LocalIndex* columns,
                  const double* values)
      : words_(words), columns_(columns), values_(values) {}

  Iterator begin() const { return {*this}; }
  std::default_sentinel_t end() const { return {}; }
  int size() const {
    int count = 0;
    for (const Word word : words_) count += std::popcount(word);
    return count;
  }
  bool empty() const { return begin() == end(); }

 private:
  std::span<const Word> words_;  // a bit for each entry of the row of A
  const spmv::LocalIndex* columns_;  // of that row
  const double* values_;
};

/// The strong couplings of a rank's rows, and the diagonal to which the weak ones are added: the
/// filtered matrix A_F, whose rows have the same sums.
///
/// a_ij is strong if −a_ij ≥ threshold·max_k(−a_ik) for row i or for row j; in rows without
/// negative couplings magnitudes count. Weak couplings are not added where that would leave less
/// than a tenth of a_ii.
///
///     row of A     8 −4 −3 −0.5 0.5     threshold 0.25
///     row of A_F   8 −4 −3
/// A bit for each entry of the matrix: with columns and values they took 12 bytes for each strong
/// one.
class StrongRows {
 public:
  /// Collective. Thread: the main thread, outside the team.
  /// Lifetime: the matrix of `level` outlives it.
  StrongRows(const comm_thread::Crew& crew, const LevelMatrix& level, double threshold);

  StrongCouplings couplings(std::size_t row) const {
    const auto begin = static_cast<std::size_t>(rows_.row_offsets[row]);
    return {std::span(words_).subspan(first_word(row), word_count(row)),
            rows_.columns.data() + begin, rows_.values.data() + begin};
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
  bool is_alone(std::size_t row) const { return couplings(row).empty(); }

 private:
  using Word = StrongCouplings::Word;
  struct Count;

  std::size_t length(std::size_t row) const {
    return static_cast<std::size_t>(rows_.row_offsets[row + 1] - rows_.row_offsets[row]);
  }
  /// Rows have whole words, and need no list of where they begin.
  std::size_t first_word(std::size_t row) const {
    return static_cast<std::size_t>(rows_.row_offsets[row]) / StrongCouplings::word_bits + row;
  }
  std::size_t word_count(std::size_t row) const {
    return (length(row) + StrongCouplings::word_bits - 1) / StrongCouplings::word_bits;
  }
  /// Finds the strong couplings of a row.
  void find(std::size_t row, const RowValues<double>& strongest, double threshold, Count& count);

  const spmv::CrsMatrix& rows_;
  perfmodel::PageVector<Word> words_;  // of rows, one after the other
  perfmodel::PageVector<double> diagonal_;
  perfmodel::PageVector<std::int32_t> dependents_;
  double one_way_share_ = 0;
  bool is_of_chains_ = false;
  bool has_only_chains_ = false;
};

}  // namespace weft::solver::amg
