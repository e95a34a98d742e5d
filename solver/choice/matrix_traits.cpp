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
#include "solver/choice/entry_distances.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr double rounding_of_sums = 1e-12;

/// Sums of all rows.
struct Part {
  std::int64_t zero_diagonals = 0;
  std::int64_t negative_diagonals = 0;
  std::int64_t positive_off_diagonals = 0;
  std::int64_t dominant_rows = 0;
  std::int64_t zero_sum_rows = 0;
  std::int64_t bandwidth = 0;
  std::int64_t envelope_work = 0;
  std::int64_t longest_row = 0;
  double least_excess = std::numeric_limits<double>::infinity();
  double least_diagonal = std::numeric_limits<double>::infinity();
  double largest_diagonal = 0;
  std::uint64_t symmetry = 0;  // of `symmetry_bits`
  EntryDistances distances;
};

/// Adds an own row, whose entries are [first, last) of the rank's.
void add_row(const DistributedMatrix& matrix, GlobalIndex row, std::size_t first, std::size_t last,
             Part& part) {
  double diagonal = 0;
  double sum = 0;
  double others = 0;
  for (std::size_t k = first; k < last; ++k) {
    const GlobalIndex column = matrix.global_column(matrix.rows.columns[k]);
    const double a = matrix.rows.values[k];
    sum += a;
    if (column == row) {
      diagonal = a;
      continue;
    }
    others += std::abs(a);
    part.positive_off_diagonals += a > 0;
    part.symmetry += symmetry_bits(row, column, a);
    if (!part.distances.has_more()) part.distances.note(column - row);
  }
  if (first < last) {
    const std::int64_t before = row - matrix.global_column(matrix.rows.columns[first]);
    part.bandwidth = std::max(
        {part.bandwidth, before, matrix.global_column(matrix.rows.columns[last - 1]) - row});
    if (before > 0 && matrix.partition.row_count() <= most_rows_with_work)
      part.envelope_work += before * before;
  }
  part.longest_row = std::max(part.longest_row, static_cast<std::int64_t>(last - first));
  part.zero_diagonals += diagonal == 0;
  part.negative_diagonals += diagonal < 0;
  part.least_diagonal = std::min(part.least_diagonal, std::abs(diagonal));
  part.largest_diagonal = std::max(part.largest_diagonal, std::abs(diagonal));
  part.least_excess =
      std::min(part.least_excess, diagonal == 0 ? -1 : 1 - others / std::abs(diagonal));
  part.dominant_rows += std::abs(diagonal) >= (1 - rounding_of_sums) * others;
  const double size = others + std::abs(diagonal);
  part.zero_sum_rows +=
      others > 0 && std::isfinite(size) && std::abs(sum) <= rounding_of_sums * size;
}

/// Of rows [begin, end), which one thread has.
Part scan(const DistributedMatrix& matrix, LocalIndex begin, LocalIndex end) {
  const auto& offsets = matrix.rows.row_offsets;
  Part part;
  for (LocalIndex row = begin; row < end; ++row)
    add_row(matrix, matrix.first_row() + row,
            static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]),
            static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]), part);
  return part;
}

/// True if the sum of all ranks' numbers is 0 in 64 bits: sums of the halves cannot overflow.
bool is_zero_in_sum(const Communicator& communicator, std::uint64_t own) {
  constexpr std::uint64_t low_half = 0xffffffff;
  std::array<std::int64_t, 2> halves{static_cast<std::int64_t>(own & low_half),
                                     static_cast<std::int64_t>(own >> 32)};
  communicator.sum(halves);
  return static_cast<std::uint64_t>(halves[0]) + (static_cast<std::uint64_t>(halves[1]) << 32) == 0;
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
  Part all;
  for (const Part& part : parts) {
    all.zero_diagonals += part.zero_diagonals;
    all.negative_diagonals += part.negative_diagonals;
    all.positive_off_diagonals += part.positive_off_diagonals;
    all.dominant_rows += part.dominant_rows;
    all.zero_sum_rows += part.zero_sum_rows;
    all.envelope_work += part.envelope_work;
    all.bandwidth = std::max(all.bandwidth, part.bandwidth);
    all.longest_row = std::max(all.longest_row, part.longest_row);
    all.least_excess = std::min(all.least_excess, part.least_excess);
    all.least_diagonal = std::min(all.least_diagonal, part.least_diagonal);
    all.largest_diagonal = std::max(all.largest_diagonal, part.largest_diagonal);
    all.symmetry += part.symmetry;
    all.distances.note(part.distances);
  }
  std::array<std::int64_t, 6> sums{all.zero_diagonals,         all.negative_diagonals,
                                   all.positive_off_diagonals, all.dominant_rows,
                                   all.zero_sum_rows,          all.envelope_work};
  communicator.sum(sums);
  const bool has_equal_bits = is_zero_in_sum(communicator, all.symmetry);
  MatrixTraits traits{.row_count = op.global_row_count(),
                      .nonzero_count = matrix.global_nonzero_count,
                      .largest_row_count = communicator.max(std::int64_t{matrix.rows.row_count}),
                      .asymmetry = has_equal_bits ? std::nullopt : collective_find_asymmetry(op),
                      .zero_diagonal_count = sums[0],
                      .negative_diagonal_count = sums[1],
                      .positive_off_diagonal_count = sums[2],
                      .dominant_row_count = sums[3],
                      .zero_sum_row_count = sums[4],
                      .bandwidth = communicator.max(all.bandwidth),
                      .envelope_work = sums[5],
                      .longest_row = communicator.max(all.longest_row),
                      .least_excess = communicator.min(all.least_excess),
                      .least_diagonal = communicator.min(all.least_diagonal),
                      .largest_diagonal = communicator.max(all.largest_diagonal),
                      .grid = {}};
  constexpr std::int64_t most_neighbours = 6;
  if (traits.is_symmetric() && traits.longest_row <= most_neighbours + 1)
    traits.grid = all.distances.collective_grid(communicator, traits.row_count);
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
