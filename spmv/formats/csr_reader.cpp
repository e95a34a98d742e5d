#include "spmv/formats/csr_reader.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::InputError;
using comm_thread::TeamThread;

constexpr std::int64_t piece_entries = 1 << 15;

/// Where the rows [begin, end) begin among the nonzeros: [end - begin + 1].
struct RowOffsets {
  std::vector<std::int64_t> at;
};

[[noreturn]] void fail(const CsrSource& source, const std::string& complaint) {
  throw InputError(source.name() + ": " + complaint);
}

void check_sizes(const CsrSource& source, int rank_count) {
  const GlobalIndex most = GlobalIndex{std::numeric_limits<LocalIndex>::max()} * rank_count;
  if (source.row_count < 1 || source.nonzero_count < 1)
    fail(source, "found an empty matrix (" + std::to_string(source.row_count) + " rows, " +
                     std::to_string(source.nonzero_count) +
                     " nonzeros); expected at least one nonzero");
  if (source.row_count > most)
    fail(source, "found " + std::to_string(source.row_count) + " rows; expected at most " +
                     std::to_string(most) + " on " + std::to_string(rank_count) + " ranks");
  source.rows.check_size("rows");
  source.columns.check_size("columns");
  source.values.check_size("values");
}

/// Throws where offsets do not ascend within the nonzeros. A rank reads its own rows only.
RowOffsets collective_read_offsets(const Communicator& communicator, const CsrSource& source,
                                   GlobalIndex begin, GlobalIndex end) {
  RowOffsets offsets;
  offsets.at.resize(static_cast<std::size_t>(end - begin + 1));
  std::int64_t own = 0;
  comm_thread::collective_attempt(communicator, [&] {
    if (source.has_offsets) {
      source.rows.read(begin, offsets.at, "row offsets");
    } else {
      source.rows.read(begin, std::span(offsets.at).subspan(1), "row lengths");
      for (std::size_t row = 1; row < offsets.at.size(); ++row) {
        const std::int64_t length = offsets.at[row];
        if (length < 0 || length > source.nonzero_count)
          fail(source, "found a row of length " + std::to_string(length) + "; expected 0 to " +
                           std::to_string(source.nonzero_count));
        offsets.at[row] += offsets.at[row - 1];
        if (offsets.at[row] > source.nonzero_count)
          fail(source, "found more nonzeros in its rows than it says; expected as many");
      }
      own = offsets.at.back();
    }
  });
  if (!source.has_offsets) {
    const std::int64_t before = communicator.exclusive_prefix_sum(own);
    for (std::int64_t& offset : offsets.at) offset += before;
  }
  comm_thread::collective_attempt(communicator, [&] {
    for (std::size_t row = 0; row < offsets.at.size(); ++row)
      if (offsets.at[row] < (row > 0 ? offsets.at[row - 1] : 0) ||
          offsets.at[row] > source.nonzero_count)
        fail(source, "found row offset " + std::to_string(offsets.at[row]) +
                         "; expected offsets that ascend from 0 to " +
                         std::to_string(source.nonzero_count));
    const bool is_first = begin == 0 && begin < end;
    const bool is_last = end == source.row_count && begin < end;
    if ((is_first && offsets.at.front() != 0) ||
        (is_last && offsets.at.back() != source.nonzero_count))
      fail(source, "found rows that do not have the " + std::to_string(source.nonzero_count) +
                       " nonzeros of the file; expected them to begin at 0 and end there");
  });
  return offsets;
}

RowPartition collective_partition(const Communicator& communicator, const CsrSource& source,
                                  PartitionBy by) {
  const GlobalIndex rows = source.row_count;
  RowPartition partition = RowPartition::by_rows(rows, communicator.size());
  if (by == PartitionBy::rows || communicator.size() == 1) return partition;
  const GlobalIndex begin = partition.begin(communicator.rank());
  const RowOffsets offsets =
      collective_read_offsets(communicator, source, begin, partition.end(communicator.rank()));
  std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(rows)));
  const GlobalIndex block_size = RowPartition::block_size(rows);
  for (std::size_t row = 0; row + 1 < offsets.at.size(); ++row)
    nonzeros[static_cast<std::size_t>((begin + static_cast<GlobalIndex>(row)) / block_size)] +=
        offsets.at[row + 1] - offsets.at[row];
  communicator.sum(nonzeros);
  return RowPartition::by_nonzeros(rows, communicator.size(), nonzeros);
}

/// Calls take(row, column, place among the nonzeros) for the rows [first, last) of this rank.
template <class TakePiece>
void read_pieces(const CsrSource& source, const RowOffsets& offsets, std::size_t first,
                 std::size_t last, const TakePiece& take_piece) {
  std::vector<std::int64_t> columns;
  for (std::size_t row = first; row < last;) {
    std::size_t end = row + 1;
    while (end < last && offsets.at[end + 1] - offsets.at[row] <= piece_entries) ++end;
    const std::int64_t begin = offsets.at[row];
    columns.resize(static_cast<std::size_t>(offsets.at[end] - begin));
    source.columns.read(begin, columns, "columns");
    for (const std::int64_t column : columns)
      if (column < 0 || column >= source.row_count)
        fail(source, "found column " + std::to_string(column) + "; expected 0 to " +
                         std::to_string(source.row_count - 1));
    take_piece(row, end, columns);
    row = end;
  }
}

/// Runs `work(thread, first row, last row)` on the team; an InputError of any thread is thrown
/// here.
template <class Work>
void run_checked(const ComputeTeam& team, bool is_parallel, std::size_t row_count,
                 const Work& work) {
  std::mutex mutex;
  std::string fault;
  team.run([&](const TeamThread& thread) {
    const int sharers = is_parallel ? thread.count : 1;
    if (thread.index >= sharers) return;
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(row_count), thread.index, sharers);
    try {
      work(thread.index, static_cast<std::size_t>(share.begin),
           static_cast<std::size_t>(share.end));
    } catch (const InputError& error) {
      const std::lock_guard lock(mutex);
      fault = error.what();
    }
  });
  if (!fault.empty()) throw InputError(fault);
}

}  // namespace

DistributedMatrix collective_read_csr(const Communicator& communicator, const ComputeTeam& team,
                                      const CsrSource& source, PartitionBy partition_by) {
  comm_thread::collective_attempt(communicator, [&] { check_sizes(source, communicator.size()); });
  RowPartition partition = collective_partition(communicator, source, partition_by);
  const GlobalIndex first_row = partition.begin(communicator.rank());
  const auto row_count = static_cast<std::size_t>(partition.size(communicator.rank()));
  const RowOffsets offsets = collective_read_offsets(
      communicator, source, first_row, first_row + static_cast<GlobalIndex>(row_count));
  const bool is_parallel = source.is_parallel();
  std::optional<MatrixAssembly> assembly;
  const auto row_at = [&](std::size_t row) { return first_row + static_cast<GlobalIndex>(row); };
  comm_thread::collective_attempt(communicator, [&] {
    try {
      assembly.emplace(std::move(partition), communicator.rank(), team.thread_count());
      run_checked(
          team, is_parallel, row_count, [&](int thread, std::size_t begin, std::size_t end) {
            read_pieces(
                source, offsets, begin, end,
                [&](std::size_t row, std::size_t last, const std::vector<std::int64_t>& columns) {
                  const std::int64_t base = offsets.at[row];
                  for (; row < last; ++row)
                    for (std::int64_t k = offsets.at[row]; k < offsets.at[row + 1]; ++k)
                      assembly->count(row_at(row), columns[static_cast<std::size_t>(k - base)],
                                      thread);
                });
          });
      assembly->allocate(team);
      run_checked(team, is_parallel, row_count, [&](int, std::size_t begin, std::size_t end) {
        std::vector<double> values;
        read_pieces(
            source, offsets, begin, end,
            [&](std::size_t row, std::size_t last, const std::vector<std::int64_t>& columns) {
              const std::int64_t base = offsets.at[row];
              values.resize(columns.size());
              source.values.read(base, values, "values");
              for (; row < last; ++row)
                for (std::int64_t k = offsets.at[row]; k < offsets.at[row + 1]; ++k) {
                  const auto place = static_cast<std::size_t>(k - base);
                  assembly->insert(row_at(row), columns[place], values[place]);
                }
            });
      });
    } catch (const std::bad_alloc&) {
      fail(source, "the matrix needs more memory than there is; use more ranks");
    }
  });
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
