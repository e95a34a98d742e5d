#include "spmv/texts/entry_stream.h"

#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "spmv/files/number_text.h"
#include "spmv/matrix/assembly.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;
using Symmetry = StreamedMatrix::Symmetry;

/// Runs `work` on every rank, and says what to do about a matrix too large for the ranks.
void collective_attempt_to_hold(const Communicator& communicator, const std::string& name,
                                const std::function<void()>& work) {
  comm_thread::collective_attempt(communicator, [&] {
    try {
      work();
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    } catch (const std::bad_alloc&) {
      throw InputError(name + ": the matrix needs more memory than there is; use more ranks");
    }
  });
}

RowPartition collective_partition(const Communicator& communicator, const StreamedMatrix& matrix,
                                  EntryStream& stream, PartitionBy by) {
  RowPartition partition = RowPartition::by_rows(matrix.row_count, communicator.size());
  if (by == PartitionBy::rows || communicator.size() == 1) return partition;
  std::vector<GlobalIndex> nonzeros(
      static_cast<std::size_t>(RowPartition::block_count(matrix.row_count)));
  const GlobalIndex block_size = RowPartition::block_size(matrix.row_count);
  std::vector<MatrixEntry> entries;
  comm_thread::collective_attempt(communicator, [&] {
    stream.rewind();
    while (!stream.is_at_end()) {
      stream.read(false, entries);
      for (const MatrixEntry& entry : entries) {
        ++nonzeros[static_cast<std::size_t>(entry.row / block_size)];
        if (matrix.symmetry != Symmetry::general && entry.row != entry.column)
          ++nonzeros[static_cast<std::size_t>(entry.column / block_size)];
      }
    }
  });
  communicator.sum(nonzeros);
  return RowPartition::by_nonzeros(matrix.row_count, communicator.size(), nonzeros);
}

void check_row_count(const Communicator& communicator, const StreamedMatrix& matrix) {
  const GlobalIndex most =
      GlobalIndex{std::numeric_limits<LocalIndex>::max()} * communicator.size();
  if (matrix.row_count > most)
    throw InputError(matrix.name + ": found " + std::to_string(matrix.row_count) +
                     " rows; expected at most " + std::to_string(most) + " on " +
                     std::to_string(communicator.size()) + " ranks");
}

[[noreturn]] void fail_of(const StreamedMatrix& matrix, const MirrorMerge& merge) {
  const bool is_skew = matrix.symmetry == Symmetry::skew_symmetric;
  const auto text = [](GlobalIndex row, GlobalIndex column, double value) {
    std::string number;
    append_number(number, value);
    return number + " for row " + std::to_string(row + 1) + ", column " +
           std::to_string(column + 1);
  };
  throw InputError(matrix.name + ": found " + text(merge.row, merge.column, merge.value) +
                   ", but " +
                   text(merge.column, merge.row, is_skew ? -merge.mirrored : merge.mirrored) +
                   (is_skew ? "; expected opposite values" : "; expected equal values") +
                   " in both triangles of a " + (is_skew ? "skew-symmetric" : "symmetric") +
                   " matrix, or entries in one of them");
}

}  // namespace

DistributedMatrix collective_read_stream(const Communicator& communicator,
                                         const comm_thread::ComputeTeam& team,
                                         const StreamedMatrix& matrix, EntryStream& stream,
                                         PartitionBy by, Remarks& remarks) {
  check_row_count(communicator, matrix);
  const RowPartition partition = collective_partition(communicator, matrix, stream, by);
  std::optional<MatrixAssembly> assembly;
  collective_attempt_to_hold(communicator, matrix.name,
                             [&] { assembly.emplace(partition, communicator.rank()); });
  std::array<std::int64_t, 2> sides{};  // of the diagonal, on which entries are given
  collective_deal(communicator, partition, stream, false, matrix.symmetry,
                  [&](const MatrixEntry& entry) {
                    const bool is_mirrored = entry.column < 0;
                    assembly->count(entry.row, is_mirrored ? ~entry.column : entry.column);
                    if (!is_mirrored && entry.row != entry.column)
                      sides[entry.row < entry.column ? 1 : 0] = 1;
                  });
  collective_attempt_to_hold(communicator, matrix.name, [&] { assembly->allocate(team); });
  communicator.sum(sides);
  const bool has_both = matrix.symmetry != Symmetry::general && sides[0] > 0 && sides[1] > 0;
  collective_deal(communicator, partition, stream, true, matrix.symmetry,
                  [&](const MatrixEntry& entry) {
                    if (entry.column >= 0)
                      assembly->insert(entry.row, entry.column, entry.value);
                    else if (has_both)
                      assembly->insert_mirrored(entry.row, ~entry.column, entry.value);
                    else
                      assembly->insert(entry.row, ~entry.column, entry.value);
                  });
  if (has_both) {
    const MirrorMerge merge = assembly->collective_merge_mirrored(communicator, team);
    if (merge.has_conflict) fail_of(matrix, merge);
    if (merge.pair_count > 0)
      remarks.push_back(text_of_merged_pairs(matrix.name, merge.pair_count));
  }
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
