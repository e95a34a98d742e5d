#include "solver/eigen/shifted_count.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {
namespace {

/// Entries of a matrix that rank 0 takes.
constexpr std::int64_t most_entries = 6'000'000;
constexpr double bytes_of_sorting = 60;  // of an entry, while rank 0 sorts them
/// 12 bytes each: 1.2 GB.
constexpr double most_factor_entries = 1e8;

struct SentEntry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// All of a matrix, divided by `unit`, on rank 0. Collective.
LowerTriangle collective_gather_triangle(const spmv::SparseOperator& op, double unit) {
  const comm_thread::Communicator& ranks = op.communicator();
  comm_thread::Lists<SentEntry> lists;
  op.matrix().matrix().for_each_entry(
      [&](spmv::GlobalIndex row, spmv::GlobalIndex column, double value) {
        if (column <= row)
          lists[0].push_back(
              {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value / unit});
      });
  const auto received = comm_thread::collective_exchange_joined(ranks, std::move(lists));
  LowerTriangle triangle{.size = static_cast<std::size_t>(op.global_row_count()), .entries = {}};
  for (const SentEntry& entry : received)
    triangle.entries.push_back({entry.row, entry.column, entry.value});
  return triangle;
}

/// A number of rank 0 on every rank.
double from_root(const comm_thread::Communicator& ranks, double value) {
  std::array<std::int64_t, 1> bits{std::bit_cast<std::int64_t>(value)};
  ranks.broadcast(bits, 0);
  return std::bit_cast<double>(bits[0]);
}

}  // namespace

ShiftedCount::ShiftedCount(const CountedPencil& pencil, double most_flops,
                           double most_sorting_bytes, double most_of_factor)
    : pencil_(pencil) {
  const std::int64_t of_a = pencil.a.matrix().matrix().global_nonzero_count;
  const std::int64_t of_b = pencil.b ? pencil.b->matrix().matrix().global_nonzero_count : 0;
  const std::int64_t entries = std::max(of_a, of_b);
  const double sorted = static_cast<double>(of_a + of_b) / 2;  // on one side of the diagonal
  if (bytes_of_sorting * sorted > most_sorting_bytes)
    obstacle_ = fmt::format("the {} entries take more memory than the search", of_a + of_b);
  else if (entries > most_entries || pencil.a.global_row_count() > most_entries)
    obstacle_ = fmt::format("a matrix of {} entries is too large for one rank to factor", entries);
  else
    collective_gather(most_flops, std::min(most_of_factor, most_factor_entries));
}

void ShiftedCount::collective_gather(double most_flops, double most_of_factor) {
  const comm_thread::Communicator& ranks = pencil_.a.communicator();
  const LowerTriangle of_a = collective_gather_triangle(pencil_.a, pencil_.unit_of_a);
  LowerTriangle of_b{.size = of_a.size, .entries = {}};
  if (pencil_.b) of_b = collective_gather_triangle(*pencil_.b, pencil_.unit_of_b);
  std::string text;
  if (ranks.is_root()) {
    counter_ = std::make_unique<InertiaCounter>(of_a, of_b, most_flops, most_of_factor);
    if (!counter_->fits())
      text = fmt::format("a factorization would take more than {:.0e} operations or {:.0e} entries",
                         most_flops, most_of_factor);
  }
  ranks.broadcast(text, 0);
  obstacle_ = text;
  const double sorting =
      bytes_of_sorting * static_cast<double>(of_a.entries.size() + of_b.entries.size());
  bytes_ = from_root(ranks, counter_ ? std::max(sorting, counter_->bytes()) : 0);
}

/// By Cauchy and Schwarz: the operations are the squares of the columns of L, added up.
double ShiftedCount::most_bytes(double rows, double nonzeros, bool has_mass, double most_flops) {
  if (nonzeros > most_entries || rows > most_entries) return 0;
  const double entries = nonzeros / 2 * (has_mass ? 2 : 1);
  const double factor =
      std::min({most_factor_entries, std::sqrt(rows * most_flops), rows * rows / 2});
  constexpr double of_entry_of_l = 12;
  return bytes_of_sorting * entries + of_entry_of_l * factor;
}

std::optional<Inertia> ShiftedCount::collective_count(double sigma) const {
  const comm_thread::Communicator& ranks = pencil_.a.communicator();
  std::optional<Inertia> counted;
  if (ranks.is_root()) {
    try {
      counted = counter_->count(sigma / pencil_.unit_of_a * pencil_.unit_of_b);
    } catch (const std::bad_alloc&) {
      counted.reset();
    }
  }
  std::array<std::int64_t, 2> counts{counted ? counted->below : -1, counted ? counted->above : -1};
  ranks.broadcast(counts, 0);
  const double error = from_root(ranks, counted ? counted->error : 0);
  if (counts[0] < 0) return std::nullopt;
  return Inertia{.below = counts[0],
                 .above = counts[1],
                 .error = error * pencil_.unit_of_a / pencil_.least_of_b};
}

}  // namespace weft::solver
