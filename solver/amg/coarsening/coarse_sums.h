#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Sums of the rows of a product, one row after the other, with an element for each coarse column.
class CoarseSums {
 public:
  using OfProlongator = Coupling<float>;

  /// `columns`: all have been met.
  explicit CoarseSums(const CoarseColumns& columns)
      : sums_(static_cast<std::size_t>(columns.count()), 0.0) {}

  std::size_t place(spmv::LocalIndex column) const { return static_cast<std::size_t>(column); }
  /// Adds weight·row.
  template <class Simd>
  [[gnu::always_inline]] void add_row(std::span<const Coupling<float>> row, double weight) {
    for (const auto& [value, column] : row)
      sums_[place(column)] += weight * static_cast<double>(value);
  }
  template <class Simd>
  [[gnu::always_inline]] void add_row(std::span<const PackedCoupling> row, double weight) {
    for (const PackedCoupling& entry : row) sums_[place(entry.column())] += weight * entry.value();
  }
  /// The sum at a place, which is 0 from then on.
  double take(std::size_t place) { return std::exchange(sums_[place], 0.0); }
  /// Gives the entries their sums, which are 0 from then on.
  void take_row(std::span<PackedCoupling> row) {
    for (PackedCoupling& entry : row) entry.set_value(take(place(entry.column())));
  }

 private:
  perfmodel::PageVector<double> sums_;
};

/// The couplings of a row with all columns of an aggregate, and zeros behind them.
template <int block>
struct CouplingBlock {
  static constexpr int width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(block)));

  std::array<double, width> values{};
  std::size_t place = 0;  // of the first one's sum
};

/// The same where columns come in blocks, whose sums are side by side with zeros behind them:
///
///     blocks of 3:   0 1 2 .  3 4 5 .  6 7 8 .
///
/// A block costs one look for a place, and one product and sum of all lanes.
template <int block>
class CoarseBlockSums {
 public:
  using OfProlongator = CouplingBlock<block>;

  explicit CoarseBlockSums(const CoarseColumns& columns)
      : sums_(static_cast<std::size_t>(columns.count()) / size) {}

  std::size_t place(spmv::LocalIndex column) const {
    return static_cast<std::size_t>(column) / size * width +
           static_cast<std::size_t>(column) % size;
  }
  template <class Simd>
  [[gnu::always_inline]] void add_row(std::span<const OfProlongator> row, double weight) {
    using Sums = typename Simd::template Lanes<double, OfProlongator::width>;
    double* const sums = data();
    for (const OfProlongator& entries : row)
      add(sums + entries.place, weight * Sums::load(entries.values.data()));
  }
  template <class Simd>
  [[gnu::always_inline]] void add_row(std::span<const PackedCoupling> row, double weight) {
    using Sums = typename Simd::template Lanes<double, OfProlongator::width>;
    double* const sums = data();
    const PackedCoupling* const end = row.data() + row.size();
    for (const PackedCoupling* entries = row.data(); entries != end; entries += size) {
      add(sums + place(entries->column()),
          Sums(weight).times_each([&](int lane) __attribute__((always_inline)) {
            return lane < block ? entries[lane].value() : 0.0;
          }));
    }
  }
  double take(std::size_t place) { return std::exchange(data()[place], 0.0); }
  void take_row(std::span<PackedCoupling> row) {
    for (std::size_t k = 0; k < row.size(); k += size) {
      double* const from = data() + place(row[k].column());
      for (std::size_t i = 0; i < size; ++i) row[k + i].set_value(std::exchange(from[i], 0.0));
    }
  }

 private:
  static constexpr std::size_t size = block;
  static constexpr std::size_t width = OfProlongator::width;

  /// In one line of a cache.
  struct alignas(width * sizeof(double)) OfBlock {
    std::array<double, width> values{};
  };

  [[gnu::always_inline]] double* data() { return reinterpret_cast<double*>(sums_.data()); }
  template <class Sums>
  [[gnu::always_inline]] static void add(double* to, const Sums& more) {
    (Sums::load(to) + more).store(to);
  }

  std::vector<OfBlock> sums_;
};

/// True if the local numbers of columns are those of whole blocks, one after the other.
bool are_in_blocks(const CoarseColumns& columns, std::size_t block);

/// Rows of P in blocks; `sums` has their places.
template <int block>
EntryRows<CouplingBlock<block>> in_blocks(const comm_thread::Crew& crew,
                                          const CouplingRows<float>& rows,
                                          const CoarseBlockSums<block>& sums) {
  EntryRows<CouplingBlock<block>> blocks;
  blocks.begin.resize(rows.begin.size());
  blocks.couplings.resize(rows.couplings.size() / block);
  const auto for_share = [](const comm_thread::TeamThread& thread, std::size_t count,
                            const auto& work) {
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(count), thread.index, thread.count);
    for (auto i = static_cast<std::size_t>(share.begin); i < static_cast<std::size_t>(share.end);
         ++i)
      work(i);
  };
  crew.team().run([&](const comm_thread::TeamThread& thread) {
    for_share(thread, blocks.begin.size(),
              [&](std::size_t row) { blocks.begin[row] = rows.begin[row] / block; });
    for_share(thread, blocks.couplings.size(), [&](std::size_t i) {
      const Coupling<float>* const entries = rows.couplings.data() + i * block;
      CouplingBlock<block> made{.place = sums.place(entries->column)};
      for (std::size_t k = 0; k < block; ++k)
        made.values[k] = static_cast<double>(entries[k].value);
      blocks.couplings[i] = made;
    });
  });
  return blocks;
}

}  // namespace weft::solver::amg
