#include "solver/choice/matrix_traits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/simd.h"
#include "solver/choice/entry_distances.h"
#include "solver/choice/entry_lanes.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr double rounding_of_sums = 1e-12;

constexpr std::int64_t strip_rows = 64;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Eight sums or extremes, of every eighth row or entry.
template <class Number>
struct alignas(64) EightOf : std::array<Number, 8> {
  Number sum() const { return std::accumulate(this->begin(), this->end(), Number{}); }
};
template <class Number>
EightOf<Number> eight_of(Number value) {
  EightOf<Number> eight;
  eight.fill(value);
  return eight;
}

/// Sums and extremes of all rows.
struct Part {
  EightOf<long long> zero_diagonals{};
  EightOf<long long> negative_diagonals{};
  EightOf<long long> positive_off_diagonals{};
  EightOf<long long> dominant_rows{};
  EightOf<long long> zero_sum_rows{};
  EightOf<long long> rows_without_numbers{};
  EightOf<double> least_excess = eight_of(infinity);
  EightOf<double> least_diagonal = eight_of(infinity);
  EightOf<double> largest_diagonal{};
  EightOf<unsigned long long> symmetry{};  // of `add_symmetry_bits`
  std::int64_t bandwidth = 0;
  std::int64_t envelope_work = 0;
  std::int64_t longest_row = 0;
  EntryDistances distances;
};

/// Of rows of a strip, one after the other.
struct StripSums {
  std::array<double, strip_rows> diagonal;
  std::array<double, strip_rows> sum;
  std::array<double, strip_rows> others;  // magnitudes beside the diagonal
};

/// Sums of all entries of a strip.
template <class Simd>
struct EntrySums {
  typename Simd::template Lanes<unsigned long long, 8> symmetry{0};
  Integers8<Simd> positive_off_diagonals{0};
  Integers8<Simd> strange{0};  // see EntryDistances::add_strange
};

/// Adds the entries [first, last) of own row number `index` of a strip, whose number is `row`.
template <class Simd, bool has_distances>
[[gnu::always_inline]] inline void add_entries(const DistributedMatrix& matrix, GlobalIndex row,
                                               std::size_t first, std::size_t last,
                                               const EntryDistances& distances,
                                               EntrySums<Simd>& entries, StripSums& sums,
                                               std::size_t index) {
  using Lane8 = typename Simd::Lane8;
  using Integers = Integers8<Simd>;
  constexpr long long magnitude_bits = std::numeric_limits<long long>::max();
  Integers diagonal(0);  // bits of the one entry; the other lanes have none
  Lane8 sum{};
  Lane8 others{};
  for (std::size_t k = first; k < last; k += 8) {
    const EntryLanes<Simd> lanes = entry_lanes<Simd>(matrix, k, last);
    const Integers distance = lanes.column - static_cast<long long>(row);
    const Integers is_beside = ~(distance == Integers(0)) & lanes.is_entry;
    const Integers bits = lanes.value.template bits_as<long long>();
    diagonal = diagonal | (bits & ~is_beside);
    sum += lanes.value;
    others += (bits & is_beside & magnitude_bits).template bits_as<double>();
    // All bits set are -1.
    entries.positive_off_diagonals -= (lanes.value > 0.0) & is_beside;
    add_symmetry_bits<Simd>(lanes, distance, is_beside, row, entries.symmetry);
    if constexpr (has_distances) distances.add_strange(distance, lanes.is_entry, entries.strange);
  }
  sums.diagonal[index] = diagonal.template bits_as<double>().sum();
  sums.sum[index] = sum.sum();
  sums.others[index] = others.sum();
}

/// Where an own row of these entries begins and ends.
[[gnu::always_inline]] inline void add_ends(const DistributedMatrix& matrix, GlobalIndex row,
                                            std::size_t first, std::size_t last, Part& part) {
  if (first == last) return;
  const std::int64_t before = row - matrix.global_column(matrix.rows.columns[first]);
  const std::int64_t behind = matrix.global_column(matrix.rows.columns[last - 1]) - row;
  part.bandwidth = std::max({part.bandwidth, before, behind});
  if (before > 0 && matrix.partition.row_count() <= most_rows_with_work)
    part.envelope_work += before * before;
  part.longest_row = std::max(part.longest_row, static_cast<std::int64_t>(last - first));
}

/// counts -= is_there: all bits set are -1.
template <class Integers>
[[gnu::always_inline]] inline void count_lanes(EightOf<long long>& counts,
                                               const Integers& is_there) {
  (Integers::load(counts.data()) - is_there).store(counts.data());
}

/// Eight rows of a strip from `index` on, as far as they are before `count`.
template <class Simd>
[[gnu::always_inline]] inline void add_rows(const StripSums& sums, std::size_t index,
                                            std::size_t count, Part& part) {
  using Lane8 = typename Simd::Lane8;
  using Integers = Integers8<Simd>;
  const Lane8 zero{};
  const Lane8 none(-1.0);
  const Lane8 most(infinity);
  const Integers lane = Integers::of([](int i) { return static_cast<long long>(i); });
  const Integers is_row = Integers(static_cast<long long>(count - index)) > lane;
  const Lane8 diagonal = Lane8::load(sums.diagonal.data() + index);
  const Lane8 sum = Lane8::load(sums.sum.data() + index);
  const Lane8 others = Lane8::load(sums.others.data() + index);
  const Integers is_negative = zero > diagonal;
  const Integers is_zero = diagonal == zero;
  const Lane8 magnitude = select(is_negative, -diagonal, diagonal);
  const Lane8 size = others + magnitude;
  const Lane8 in_sum = select(zero > sum, -sum, sum);
  // Below 0 where a sum of zero would mean nothing.
  const Lane8 finite_rounding = select(most > size, rounding_of_sums * size, none);
  const Lane8 rounding = select(others > zero, finite_rounding, none);
  const Lane8 divisor = select(is_zero, Lane8(1.0), magnitude);  // raises no exception
  const Lane8 excess_of_row = select(is_zero, none, 1 - others / divisor);
  const Lane8 excess = select(is_row, excess_of_row, most);
  const Lane8 least = select(is_row, magnitude, most);
  const Lane8 largest = select(is_row, magnitude, zero);
  count_lanes(part.zero_diagonals, is_zero & is_row);
  count_lanes(part.negative_diagonals, is_negative & is_row);
  count_lanes(part.dominant_rows, (magnitude >= (1 - rounding_of_sums) * others) & is_row);
  count_lanes(part.zero_sum_rows, (rounding >= in_sum) & is_row);
  count_lanes(part.rows_without_numbers, ~(others == others) & is_row);
  const auto keep_least = [](EightOf<double>& kept, const Lane8& value)
                              __attribute__((always_inline)) {
                                const Lane8 before = Lane8::load(kept.data());
                                select(before > value, value, before).store(kept.data());
                              };
  keep_least(part.least_excess, excess);
  keep_least(part.least_diagonal, least);
  const Lane8 before = Lane8::load(part.largest_diagonal.data());
  select(largest > before, largest, before).store(part.largest_diagonal.data());
}

/// Adds `count` rows from `first_row` on, whose entries begin at `offsets`. True if there are
/// distances that part.distances lacks, where has_distances.
template <bool has_distances>
bool add_strip(const DistributedMatrix& matrix, GlobalIndex first_row, const std::int64_t* offsets,
               std::size_t count, Part& part) {
  StripSums sums{};
  EightOf<long long> strange{};
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    EntrySums<Simd> entries;  // in registers
    for (std::size_t i = 0; i < count; ++i) {
      const GlobalIndex row = first_row + static_cast<GlobalIndex>(i);
      const auto first = static_cast<std::size_t>(offsets[i]);
      const auto last = static_cast<std::size_t>(offsets[i + 1]);
      add_entries<Simd, has_distances>(matrix, row, first, last, part.distances, entries, sums, i);
      add_ends(matrix, row, first, last, part);
    }
    using Words = typename Simd::template Lanes<unsigned long long, 8>;
    (Words::load(part.symmetry.data()) + entries.symmetry).store(part.symmetry.data());
    using Integers = Integers8<Simd>;
    (Integers::load(part.positive_off_diagonals.data()) + entries.positive_off_diagonals)
        .store(part.positive_off_diagonals.data());
    entries.strange.store(strange.data());
    for (std::size_t i = 0; i < count; i += 8) add_rows<Simd>(sums, i, count, part);
  });
  return std::ranges::min(strange) < 0;
}

/// Of rows [begin, end), which one thread has.
Part scan(const DistributedMatrix& matrix, LocalIndex begin, LocalIndex end) {
  Part part;
  for (std::int64_t strip = begin; strip < end; strip += strip_rows) {
    const auto count = static_cast<std::size_t>(std::min(strip_rows, end - strip));
    const GlobalIndex first_row = matrix.first_row() + strip;
    const std::int64_t* const offsets = matrix.rows.row_offsets.data() + strip;
    if (part.distances.has_more()) {
      add_strip<false>(matrix, first_row, offsets, count, part);
    } else if (add_strip<true>(matrix, first_row, offsets, count, part)) {
      for (std::size_t i = 0; i < count; ++i)
        for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
          part.distances.note(
              matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)]) - first_row -
              static_cast<GlobalIndex>(i));
    }
  }
  return part;
}

/// Sums and extremes of all threads, then of all ranks.
struct Totals {
  std::array<std::int64_t, 8> sums{};
  /// Counts are below 2⁵³; the least is the largest with the other sign.
  std::array<double, 6> largest{0, 0, 0, -infinity, -infinity, 0};
  std::uint64_t symmetry = 0;  // 0: A = Aᵀ
  EntryDistances distances;

  explicit Totals(LocalIndex row_count) { largest[0] = static_cast<double>(row_count); }

  void add(const Part& part) {
    const std::array counts{part.zero_diagonals.sum(), part.negative_diagonals.sum(),
                            part.positive_off_diagonals.sum(), part.dominant_rows.sum(),
                            part.zero_sum_rows.sum()};
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
    sums[5] += part.envelope_work;
    // What is not a number equals none.
    symmetry += part.symmetry.sum() + static_cast<std::uint64_t>(part.rows_without_numbers.sum());
    const std::array<double, 5> found{
        static_cast<double>(part.bandwidth), static_cast<double>(part.longest_row),
        -std::ranges::min(part.least_excess), -std::ranges::min(part.least_diagonal),
        std::ranges::max(part.largest_diagonal)};
    for (std::size_t i = 0; i < found.size(); ++i)
      largest[i + 1] = std::max(largest[i + 1], found[i]);
    distances.note(part.distances);
  }

  void collective_reduce(const Communicator& communicator) {
    // 64 bits as two halves, whose sums over the ranks cannot overflow.
    sums[6] = static_cast<std::int64_t>(symmetry & 0xffffffff);
    sums[7] = static_cast<std::int64_t>(symmetry >> 32);
    communicator.sum(sums);
    symmetry = static_cast<std::uint64_t>(sums[6]) + (static_cast<std::uint64_t>(sums[7]) << 32);
    communicator.max(largest);
  }
};

/// MatrixTraits::cut_coupling_count, by the entries behind the diagonal.
std::int64_t collective_count_cut(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  constexpr double least_share = 0x1p-16;
  const spmv::CrsMatrix& rows = op.matrix().matrix().rows;
  const GlobalIndex first_row = op.matrix().matrix().first_row();
  const std::array<GlobalIndex, 3> distances{1, grid.x, grid.x * grid.y};
  std::vector<std::array<std::int64_t, 3>> found(
      static_cast<std::size_t>(op.team().thread_count()));
  op.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::array<std::int64_t, 3> own{};
    for (LocalIndex row = op.matrix().thread_rows()[index];
         row < op.matrix().thread_rows()[index + 1]; ++row) {
      double least = 0;
      for (auto k = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row)]);
           k < static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row) + 1]); ++k) {
        const GlobalIndex distance =
            op.matrix().matrix().global_column(rows.columns[k]) - first_row - row;
        const double value = std::abs(rows.values[k]);
        if (distance == 0) least = least_share * value;
        if (distance <= 0 || value <= least) continue;
        // Planes of one point have the distance of the next direction.
        const auto direction = std::ranges::find(distances, distance) - distances.begin();
        if (direction < std::ssize(distances)) ++own[static_cast<std::size_t>(direction)];
      }
    }
    found[index] = own;
  });
  std::array<std::int64_t, 3> strong{};
  for (const auto& own : found)
    for (std::size_t d = 0; d < strong.size(); ++d) strong[d] += own[d];
  op.communicator().sum(strong);
  const std::int64_t points = grid.x * grid.y * grid.z;
  const std::array<std::int64_t, 3> pairs{points - points / grid.x, points - points / grid.y,
                                          points - points / grid.z};
  std::int64_t cut = 0;
  for (std::size_t d = 0; d < strong.size(); ++d)
    if (strong[d] > pairs[d] / 100) cut += std::max<std::int64_t>(pairs[d] - strong[d], 0);
  return cut;
}

}  // namespace

MatrixTraits collective_find_traits(const spmv::SparseOperator& op) {
  const Communicator& communicator = op.communicator();
  const DistributedMatrix& matrix = op.matrix().matrix();
  std::vector<Part> parts(static_cast<std::size_t>(op.team().thread_count()));
  op.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    parts[index] =
        scan(matrix, op.matrix().thread_rows()[index], op.matrix().thread_rows()[index + 1]);
  });
  Totals totals(matrix.rows.row_count);
  for (const Part& part : parts) totals.add(part);
  totals.collective_reduce(communicator);
  const auto& [sums, largest, symmetry, distances] = totals;
  MatrixTraits traits{.row_count = op.global_row_count(),
                      .nonzero_count = matrix.global_nonzero_count,
                      .largest_row_count = static_cast<std::int64_t>(largest[0]),
                      .asymmetry = symmetry == 0 ? std::nullopt : collective_find_asymmetry(op),
                      .zero_diagonal_count = sums[0],
                      .negative_diagonal_count = sums[1],
                      .positive_off_diagonal_count = sums[2],
                      .dominant_row_count = sums[3],
                      .zero_sum_row_count = sums[4],
                      .bandwidth = static_cast<std::int64_t>(largest[1]),
                      .envelope_work = sums[5],
                      .longest_row = static_cast<std::int64_t>(largest[2]),
                      .least_excess = -largest[3],
                      .least_diagonal = -largest[4],
                      .largest_diagonal = largest[5],
                      .grid = {}};
  constexpr std::int64_t most_neighbours = 6;
  if (traits.is_symmetric() && traits.longest_row <= most_neighbours + 1)
    traits.grid = distances.collective_grid(communicator, traits.row_count);
  if (traits.grid && traits.is_dominant() && traits.has_signs_of_m_matrix())
    traits.cut_coupling_count = collective_count_cut(op, *traits.grid);
  return traits;
}

void check_symmetric(const MatrixTraits& traits, const std::string& who,
                     const std::string& instead) {
  if (traits.is_symmetric()) return;
  throw comm_thread::InputError(
      fmt::format("{} needs a symmetric matrix: {}; expected {}, or {} to run nevertheless", who,
                  traits.asymmetry->text(), instead, comm_thread::option_name("force")));
}

}  // namespace weft::solver
