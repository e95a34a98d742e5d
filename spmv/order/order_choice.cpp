#include "spmv/order/order_choice.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace weft::spmv {
namespace {

/// Rows that are coupled at this distance, or a smaller one, find each other's entries of x in the
/// first cache.
constexpr double distance_in_cache = 2048;
/// Rows of a mesh in space in a good order are at most this multiple of N^(2/3) apart on average.
constexpr double distance_in_order = 4;

/// From the diagonal, of this rank's entries.
std::int64_t sum_of_distances(const comm_thread::ComputeTeam& team,
                              const DistributedMatrix& matrix) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto share = comm_thread::share_of(matrix.rows.row_count, thread.index, thread.count);
    const bool has_others = !matrix.halo_columns.empty();
    std::int64_t sum = 0;
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const auto i = static_cast<std::size_t>(row);
      const auto begin = static_cast<std::size_t>(matrix.rows.row_offsets[i]);
      const auto end = static_cast<std::size_t>(matrix.rows.row_offsets[i + 1]);
      const auto own = static_cast<LocalIndex>(row);
      if (has_others)
        for (std::size_t k = begin; k < end; ++k)
          sum += std::abs(matrix.global_column(matrix.rows.columns[k]) - matrix.first_row() - row);
      else
        for (std::size_t k = begin; k < end; ++k) sum += std::abs(matrix.rows.columns[k] - own);
    }
    sums[static_cast<std::size_t>(thread.index)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

}  // namespace

bool is_close(double rows, double distance) {
  return distance <= distance_in_cache || distance <= distance_in_order * std::pow(rows, 2.0 / 3);
}

OrderChoice collective_choose_order(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& matrix) {
  const GlobalIndex nonzeros = matrix.global_nonzero_count;
  if (nonzeros > most_nonzeros_unasked)
    return {false, fmt::format("{} nonzeros are more than rank 0 reorders unasked", nonzeros)};
  // Whole numbers: the same sum on any ranks.
  const auto distances = static_cast<double>(communicator.sum(sum_of_distances(team, matrix)));
  const double mean = nonzeros > 0 ? distances / static_cast<double>(nonzeros) : 0;
  const auto rows = static_cast<double>(matrix.partition.row_count());
  const std::string apart = fmt::format("coupled rows are {:.0f} rows apart on average", mean);
  if (mean <= distance_in_cache)
    return {false, apart + ", so that their entries of x stay in the first cache"};
  if (is_close(rows, mean)) return {false, apart + ", as in a good order of so many"};
  return {true, apart + ": reverse Cuthill-McKee pays for itself"};
}

}  // namespace weft::spmv
