#include "spmv/order/symmetric_pattern.h"

#include <array>
#include <map>
#include <new>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "perfmodel/simd.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;

/// What the rows of a thread add up to.
struct RowSum {
  std::uint64_t bits = 0;  // each entry adds some, which the transposed one takes away
  std::int32_t neighbours = 0;
};

/// Of the columns of one row, by `global_of(column)`. No branch.
template <class GlobalOf>
[[gnu::always_inline]] inline RowSum sum_row(GlobalIndex row, std::span<const LocalIndex> columns,
                                             const GlobalOf& global_of) {
  constexpr std::uint64_t far = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t factor = 0xbf58476d1ce4e5b9;
  const std::uint64_t of_row = static_cast<std::uint64_t>(row) + far;
  RowSum sum;
  std::uint64_t bits = 0;
  std::int64_t own = 0;
#pragma omp simd reduction(+ : bits, own)
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const GlobalIndex column = global_of(columns[k]);
    std::uint64_t mixed = of_row * (static_cast<std::uint64_t>(column) + far);
    mixed = (mixed ^ (mixed >> 32)) * factor;
    mixed ^= mixed >> 29;
    const auto is_below = static_cast<std::uint64_t>(-static_cast<std::int64_t>(column < row));
    const auto is_beside = static_cast<std::uint64_t>(-static_cast<std::int64_t>(column != row));
    bits += ((mixed ^ is_below) - is_below) & is_beside;
    own += static_cast<std::int64_t>(column == row);
  }
  sum.bits = bits;
  sum.neighbours = static_cast<std::int32_t>(std::ssize(columns) - own);
  return sum;
}

std::span<const LocalIndex> columns_of(const CrsMatrix& rows, std::size_t row) {
  return {rows.columns.data() + rows.row_offsets[row],
          rows.columns.data() + rows.row_offsets[row + 1]};
}

/// Counts the neighbours of own rows; true if the patterns of all ranks together are symmetric.
bool collective_count_neighbours(const Communicator& communicator,
                                 const comm_thread::ComputeTeam& team,
                                 const DistributedMatrix& matrix,
                                 perfmodel::PageVector<std::int32_t>& degrees) {
  const CrsMatrix& rows = matrix.rows;
  degrees.resize(static_cast<std::size_t>(rows.row_count));
  const GlobalIndex first_row = matrix.first_row();
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    const auto share = comm_thread::share_of(rows.row_count, thread.index, thread.count);
    std::uint64_t sum = 0;
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      const auto add_rows = [&](const auto& global_of) __attribute__((always_inline)) {
        for (std::int64_t row = share.begin; row < share.end; ++row) {
          const auto i = static_cast<std::size_t>(row);
          const RowSum of_row = sum_row(first_row + row, columns_of(rows, i), global_of);
          sum += of_row.bits;
          degrees[i] = of_row.neighbours;
        }
      };
      if (matrix.halo_columns.empty())
        add_rows([&](LocalIndex column) { return first_row + column; });
      else
        add_rows([&](LocalIndex column) { return matrix.global_column(column); });
    });
    bits[static_cast<std::size_t>(thread.index)] = sum;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t of_thread : bits) all += of_thread;
  // Halves, because no sum may overflow.
  std::array<std::int64_t, 2> halves{static_cast<std::int64_t>(all & 0xffffffff),
                                     static_cast<std::int64_t>(all >> 32)};
  communicator.sum(halves);
  return static_cast<std::uint64_t>(halves[0]) + (static_cast<std::uint64_t>(halves[1]) << 32) == 0;
}

/// Writes the neighbours of own rows, by their global numbers, one row after the other.
void write_neighbours(const DistributedMatrix& matrix, std::int32_t* to) {
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows.row_count); ++row)
    for (const LocalIndex column : columns_of(matrix.rows, row)) {
      *to = static_cast<std::int32_t>(matrix.global_column(column));
      to += column != static_cast<LocalIndex>(row);
    }
}

/// Fills the pattern on rank 0, where all arrays have room.
void collective_fill(const Communicator& communicator, const DistributedMatrix& matrix,
                     StoredPattern& stored) {
  const auto exchange = [&](std::span<const std::int32_t> own, std::span<std::int32_t> all,
                            const auto& begin_of) {
    std::map<int, std::span<const std::byte>> messages;
    if (!communicator.is_root()) messages[0] = std::as_bytes(own);
    comm_thread::collective_exchange_bytes(
        communicator, messages, [&](int source, std::size_t bytes) {
          return std::as_writable_bytes(
              all.subspan(begin_of(source), bytes / sizeof(std::int32_t)));
        });
  };
  const auto first_of = [&](int rank) {
    return static_cast<std::size_t>(matrix.partition.begin(rank));
  };
  exchange(stored.degrees, stored.degrees, first_of);
  std::int64_t own = 0;
  for (const std::int32_t degree :
       std::span(stored.degrees).first(static_cast<std::size_t>(matrix.rows.row_count)))
    own += degree;
  perfmodel::PageVector<std::int32_t> sent;
  if (communicator.is_root()) {
    for (std::size_t row = 0; row < stored.degrees.size(); ++row)
      stored.offsets[row + 1] = stored.offsets[row] + stored.degrees[row];
    write_neighbours(matrix, stored.columns.data());
  } else {
    sent.resize(static_cast<std::size_t>(own) + 1);  // one more is written
    write_neighbours(matrix, sent.data());
  }
  exchange(std::span(sent).first(communicator.is_root() ? 0 : static_cast<std::size_t>(own)),
           stored.columns,
           [&](int rank) { return static_cast<std::size_t>(stored.offsets[first_of(rank)]); });
}

}  // namespace

StoredPattern pattern_of(const RowGraph& graph) {
  StoredPattern stored;
  stored.offsets.assign(graph.offsets.begin(), graph.offsets.end());
  for (std::size_t row = 0; row + 1 < graph.offsets.size(); ++row)
    stored.degrees.push_back(graph.degree(row));
  stored.pattern = {stored.offsets, graph.neighbours, stored.degrees};
  return stored;
}

std::optional<StoredPattern> collective_gather_symmetric_pattern(
    const Communicator& communicator, const comm_thread::ComputeTeam& team,
    const DistributedMatrix& matrix) {
  StoredPattern stored;
  if (!collective_count_neighbours(communicator, team, matrix, stored.degrees)) return std::nullopt;
  if (communicator.size() == 1) {
    stored.pattern = {matrix.rows.row_offsets.span(), matrix.rows.columns.span(), stored.degrees};
    return stored;
  }
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    try {
      const auto rows = static_cast<std::size_t>(matrix.partition.row_count());
      stored.degrees.resize(rows);
      stored.offsets.resize(rows + 1);
      stored.offsets.front() = 0;
      stored.columns.resize(static_cast<std::size_t>(matrix.global_nonzero_count) + 1);
    } catch (const std::bad_alloc&) {
      throw comm_thread::InputError("ordering the rows needs more memory than rank 0 has");
    }
  });
  collective_fill(communicator, matrix, stored);
  if (communicator.is_root()) stored.pattern = {stored.offsets, stored.columns, stored.degrees};
  return stored;
}

}  // namespace weft::spmv
