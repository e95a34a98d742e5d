#include "solver/choice/matrix_traits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/simd.h"
#include "solver/choice/entry_distances.h"
#include "solver/choice/entry_lanes.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using perfmodel::Lane8;
using perfmodel::Mask8;
using perfmodel::Words8;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr double rounding_of_sums = 1e-12;

constexpr std::int64_t strip_rows = 64;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sums and extremes of all rows; in lanes, of every eighth row or entry.
struct Part {
  Mask8 zero_diagonals{};
  Mask8 negative_diagonals{};
  Mask8 positive_off_diagonals{};
  Mask8 dominant_rows{};
  Mask8 zero_sum_rows{};
  Mask8 rows_without_numbers{};
  Lane8 least_excess = Lane8{} + infinity;
  Lane8 least_diagonal = Lane8{} + infinity;
  Lane8 largest_diagonal{};
  Words8 symmetry{};  // of `add_symmetry_bits`
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

/// Of all entries of a strip.
struct EntrySums {
  Words8 symmetry{};
  Mask8 positive_off_diagonals{};
  Mask8 strange{};  // see EntryDistances::add_strange
};

[[gnu::always_inline]] inline double sum_of_lanes(const Lane8& lanes) {
  const auto half = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) +
                    __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
  return (half[0] + half[2]) + (half[1] + half[3]);
}

/// Adds the entries [first, last) of own row number `index` of a strip, whose number is `row`.
template <bool has_distances>
[[gnu::always_inline]] inline void add_entries(const DistributedMatrix& matrix, GlobalIndex row,
                                               std::size_t first, std::size_t last,
                                               const EntryDistances& distances, EntrySums& entries,
                                               StripSums& sums, std::size_t index) {
  constexpr std::int64_t magnitude_bits = std::numeric_limits<std::int64_t>::max();
  Mask8 diagonal{};  // bits of the one entry; the other lanes have none
  Lane8 sum{};
  Lane8 others{};
  for (std::size_t k = first; k < last; k += 8) {
    const EntryLanes lanes = entry_lanes(matrix, k, last);
    const Mask8 distance = lanes.column - row;
    const Mask8 is_beside = (distance != 0) & lanes.is_entry;
    const auto bits = reinterpret_cast<Mask8>(lanes.value);
    diagonal |= bits & ~is_beside;
    sum += lanes.value;
    others += reinterpret_cast<Lane8>(bits & is_beside & magnitude_bits);
    entries.positive_off_diagonals -= (lanes.value > 0) & is_beside;  // all bits set are -1
    add_symmetry_bits(lanes, distance, is_beside, row, entries.symmetry);
    if constexpr (has_distances) distances.add_strange(distance, lanes.is_entry, entries.strange);
  }
  sums.diagonal[index] = sum_of_lanes(reinterpret_cast<Lane8>(diagonal));
  sums.sum[index] = sum_of_lanes(sum);
  sums.others[index] = sum_of_lanes(others);
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

/// Eight rows of a strip from `index` on, as far as they are before `count`.
[[gnu::always_inline]] inline void add_rows(const StripSums& sums, std::size_t index,
                                            std::size_t count, Part& part) {
  constexpr Mask8 lane{0, 1, 2, 3, 4, 5, 6, 7};
  const Mask8 is_row = lane < static_cast<long long>(count - index);
  const Lane8 diagonal = perfmodel::lanes(sums.diagonal.data() + index).value;
  const Lane8 sum = perfmodel::lanes(sums.sum.data() + index).value;
  const Lane8 others = perfmodel::lanes(sums.others.data() + index).value;
  const Lane8 magnitude = diagonal < 0 ? -diagonal : diagonal;
  const Lane8 size = others + magnitude;
  const Lane8 in_sum = sum < 0 ? -sum : sum;
  // Below 0 where a sum of zero would mean nothing.
  const Lane8 finite_rounding = size < infinity ? rounding_of_sums * size : Lane8{} - 1;
  const Lane8 rounding = others > 0 ? finite_rounding : Lane8{} - 1;
  const Lane8 divisor = diagonal == 0 ? Lane8{} + 1 : magnitude;  // raises no exception
  const Lane8 excess_of_row = diagonal == 0 ? Lane8{} - 1 : 1 - others / divisor;
  const Lane8 excess = is_row ? excess_of_row : Lane8{} + infinity;
  const Lane8 least = is_row ? magnitude : Lane8{} + infinity;
  const Lane8 largest = is_row ? magnitude : Lane8{};
  // All bits set are -1. One comparison an expression: GCC 12 takes several lane by lane.
  part.zero_diagonals -= (diagonal == 0) & is_row;
  part.negative_diagonals -= (diagonal < 0) & is_row;
  part.dominant_rows -= (magnitude >= (1 - rounding_of_sums) * others) & is_row;
  part.zero_sum_rows -= (in_sum <= rounding) & is_row;
  part.rows_without_numbers -= (others != others) & is_row;
  part.least_excess = excess < part.least_excess ? excess : part.least_excess;
  part.least_diagonal = least < part.least_diagonal ? least : part.least_diagonal;
  part.largest_diagonal = largest > part.largest_diagonal ? largest : part.largest_diagonal;
}

template <class Lanes>
auto least_of(const Lanes& lanes) {
  auto least = lanes[0];
  for (int i = 1; i < 8; ++i) least = std::min(least, lanes[i]);
  return least;
}

template <class Lanes>
auto sum_of(const Lanes& lanes) {
  auto sum = lanes[0];
  for (int i = 1; i < 8; ++i) sum += lanes[i];
  return sum;
}

/// Adds `count` rows from `first_row` on, whose entries begin at `offsets`. True if there are
/// distances that part.distances lacks, where has_distances.
template <bool has_distances>
bool add_strip(const DistributedMatrix& matrix, GlobalIndex first_row, const std::int64_t* offsets,
               std::size_t count, Part& part) {
  StripSums sums{};
  Mask8 strange{};
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    EntrySums entries;  // in registers
    for (std::size_t i = 0; i < count; ++i) {
      const GlobalIndex row = first_row + static_cast<GlobalIndex>(i);
      const auto first = static_cast<std::size_t>(offsets[i]);
      const auto last = static_cast<std::size_t>(offsets[i + 1]);
      add_entries<has_distances>(matrix, row, first, last, part.distances, entries, sums, i);
      add_ends(matrix, row, first, last, part);
    }
    part.symmetry += entries.symmetry;
    part.positive_off_diagonals += entries.positive_off_diagonals;
    strange = entries.strange;
    for (std::size_t i = 0; i < count; i += 8) add_rows(sums, i, count, part);
  });
  return least_of(strange) < 0;
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
  std::array<std::int64_t, 8> sums{};
  // Counts are below 2⁵³; the least is the largest with the other sign.
  std::array<double, 6> largest{
      static_cast<double>(matrix.rows.row_count), 0, 0, -infinity, -infinity, 0};
  std::uint64_t symmetry = 0;
  EntryDistances distances;
  for (const Part& part : parts) {
    const std::array counts{sum_of(part.zero_diagonals), sum_of(part.negative_diagonals),
                            sum_of(part.positive_off_diagonals), sum_of(part.dominant_rows),
                            sum_of(part.zero_sum_rows)};
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
    sums[5] += part.envelope_work;
    // What is not a number equals none.
    symmetry +=
        sum_of(part.symmetry) + static_cast<std::uint64_t>(sum_of(part.rows_without_numbers));
    const std::array<double, 5> found{static_cast<double>(part.bandwidth),
                                      static_cast<double>(part.longest_row),
                                      -least_of(part.least_excess), -least_of(part.least_diagonal),
                                      -least_of(-part.largest_diagonal)};
    for (std::size_t i = 0; i < found.size(); ++i)
      largest[i + 1] = std::max(largest[i + 1], found[i]);
    distances.note(part.distances);
  }
  // 64 bits as two halves, whose sums over the ranks cannot overflow.
  sums[6] = static_cast<std::int64_t>(symmetry & 0xffffffff);
  sums[7] = static_cast<std::int64_t>(symmetry >> 32);
  communicator.sum(sums);
  const bool has_equal_bits =
      static_cast<std::uint64_t>(sums[6]) + (static_cast<std::uint64_t>(sums[7]) << 32) == 0;
  communicator.max(largest);
  MatrixTraits traits{.row_count = op.global_row_count(),
                      .nonzero_count = matrix.global_nonzero_count,
                      .largest_row_count = static_cast<std::int64_t>(largest[0]),
                      .asymmetry = has_equal_bits ? std::nullopt : collective_find_asymmetry(op),
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
  return traits;
}

void check_symmetric(const MatrixTraits& traits, const std::string& who,
                     const std::string& instead) {
  if (traits.is_symmetric()) return;
  throw comm_thread::InputError(
      fmt::format("{} needs a symmetric matrix: {}; expected {}, or --force to run nevertheless",
                  who, traits.asymmetry->text(), instead));
}

}  // namespace weft::solver
