#include "solver/eigen/shifted_count.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {
namespace {

/// Entries of a matrix that rank 0 takes: up to 60 bytes each while they are sorted.
constexpr std::int64_t most_entries = 6'000'000;
/// 12 bytes each: 1.2 GB.
constexpr double most_factor_entries = 1e8;

struct SentEntry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// A number of rank 0 on every rank.
double from_root(const comm_thread::Communicator& ranks, double value) {
  std::array<std::int64_t, 1> bits{std::bit_cast<std::int64_t>(value)};
  ranks.broadcast(bits, 0);
  return std::bit_cast<double>(bits[0]);
}

}  // namespace

ShiftedCount::ShiftedCount(const spmv::SparseOperator& op, double unit, double most_flops)
    : op_(op), unit_(unit) {
  const std::int64_t entries = op.matrix().matrix().global_nonzero_count;
  if (entries > most_entries || op.global_row_count() > most_entries)
    obstacle_ = fmt::format("a matrix of {} entries is too large for one rank to factor", entries);
  else
    collective_gather(most_flops);
}

void ShiftedCount::collective_gather(double most_flops) {
  const comm_thread::Communicator& ranks = op_.communicator();
  comm_thread::Lists<SentEntry> lists;
  op_.matrix().matrix().for_each_entry(
      [&](spmv::GlobalIndex row, spmv::GlobalIndex column, double value) {
        if (column <= row)
          lists[0].push_back(
              {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value / unit_});
      });
  const auto received = comm_thread::collective_exchange_joined(ranks, std::move(lists));
  std::string text;
  if (ranks.is_root()) {
    LowerTriangle triangle{.size = static_cast<std::size_t>(op_.global_row_count()), .entries = {}};
    for (const SentEntry& entry : received)
      triangle.entries.push_back({entry.row, entry.column, entry.value});
    counter_ = std::make_unique<InertiaCounter>(triangle, most_flops, most_factor_entries);
    if (!counter_->fits())
      text = fmt::format("a factorization would take more than {:.0e} operations or {:.0e} entries",
                         most_flops, most_factor_entries);
  }
  ranks.broadcast(text, 0);
  obstacle_ = text;
}

std::optional<Inertia> ShiftedCount::collective_count(double sigma) const {
  const comm_thread::Communicator& ranks = op_.communicator();
  std::optional<Inertia> counted;
  if (ranks.is_root()) {
    try {
      counted = counter_->count(sigma / unit_);
    } catch (const std::bad_alloc&) {
      counted.reset();
    }
  }
  std::array<std::int64_t, 2> counts{counted ? counted->below : -1, counted ? counted->above : -1};
  ranks.broadcast(counts, 0);
  const double error = from_root(ranks, counted ? counted->error : 0);
  if (counts[0] < 0) return std::nullopt;
  return Inertia{.below = counts[0], .above = counts[1], .error = error * unit_};
}

}  // namespace weft::solver
