#include "spmv/files/matrix_market_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/files/entry_sample.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_pass.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {
namespace {

using comm_thread::ComputeTeam;
using comm_thread::InputError;
using Symmetry = MatrixMarketHeader::Symmetry;
using Values = MatrixMarketEntries::Values;

/// One file, read to the end as often as needed.
class MatrixReader {
 public:
  explicit MatrixReader(MatrixMarketFile file) : file_(std::move(file)), entries_(file_.header()) {}

  const MatrixMarketHeader& header() const { return file_.header(); }

  /// Calls `take(entry)` for every entry of this rank's rows, those of the other half of a
  /// symmetric matrix too.
  template <class Take>
  void collective_read(const RowPartition& partition, Values values, Take&& take) {
    const auto read = [&](std::string_view lines, const auto& keep) {
      return entries_.parse(lines, values, [&](const MatrixEntry& entry) {
        keep(entry);
        if (header().symmetry != Symmetry::general && entry.row != entry.column)
          keep({entry.column, entry.row,
                header().symmetry == Symmetry::symmetric ? entry.value : -entry.value});
      });
    };
    const MatrixMarketPass pass =
        collective_pass(file_, MatrixMarketRounds::Dealing::yes, partition, read, take);
    if (pass.has_fault || pass.entry_count != header().entry_count)
      file_.collective_fail([&](std::string_view line) { return entries_.fault_of(line); },
                            "the file changed while it was read; expected it to stay as it is");
  }

  /// The rows of the ranks.
  RowPartition collective_partition(PartitionBy by) {
    const auto& communicator = file_.communicator();
    const GlobalIndex rows = header().row_count;
    RowPartition partition = RowPartition::by_rows(rows, communicator.size());
    if (by == PartitionBy::rows || communicator.size() == 1) return partition;
    std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(rows)));
    const GlobalIndex block_size = RowPartition::block_size(rows);
    collective_read(partition, Values::skip, [&](const MatrixEntry& entry) {
      ++nonzeros[static_cast<std::size_t>(entry.row / block_size)];
    });
    communicator.sum(nonzeros);
    return RowPartition::by_nonzeros(rows, communicator.size(), nonzeros);
  }

 private:
  MatrixMarketFile file_;
  MatrixMarketEntries entries_;
};

/// Says what to do about a matrix too large for the ranks.
template <class Work>
void collective_attempt_with_memory(const comm_thread::Communicator& communicator,
                                    const std::string& path, Work&& work) {
  comm_thread::collective_attempt(communicator, [&] {
    try {
      work();
    } catch (const InputError& error) {
      throw InputError(path + ": " + error.what());
    } catch (const std::bad_alloc&) {
      throw InputError(path + ": the matrix needs more memory than there is; use more ranks");
    }
  });
}

MatrixMarketFile collective_open_matrix(const comm_thread::Communicator& communicator,
                                        const std::string& path) {
  return MatrixMarketFile::collective_open(communicator, path,
                                           [&](const MatrixMarketHeader& header) {
                                             check_is_square_matrix(header);
                                             check_fits_ranks(header, communicator.size());
                                           });
}

/// A block of lines. A fault in them is found when all are read.
EntrySample first_entries(MatrixMarketFile& file) {
  EntrySample sample;
  try {
    TextLines lines = file.own_lines();
    MatrixMarketEntries(file.header())
        .parse(lines.next(), Values::skip,
               [&](const MatrixEntry& entry) { sample.take(entry.row, entry.column); });
  } catch (const TextFault&) {
    return {};
  }
  const bool has_half = file.header().symmetry != Symmetry::general;
  return has_half && !sample.looks_ahead() ? EntrySample{} : sample;
}

}  // namespace

MatrixMarketSize collective_matrix_market_size(const comm_thread::Communicator& communicator,
                                               const std::string& path) {
  MatrixMarketFile file = collective_open_matrix(communicator, path);
  const MatrixMarketHeader& header = file.header();
  const bool has_half = header.symmetry != Symmetry::general;
  enum { varying, reach };
  std::array<std::int64_t, 2> found{};
  if (communicator.is_root()) {
    const EntrySample sample = first_entries(file);
    found = {sample.has_varying_rows(), sample.reach()};
  }
  communicator.broadcast(found, 0);
  return {header.row_count,
          has_half ? 2 * header.entry_count - std::min(header.row_count, header.entry_count)
                   : header.entry_count,
          found[varying] != 0, found[reach]};
}

DistributedMatrix collective_read_matrix_market(const comm_thread::Communicator& communicator,
                                                const ComputeTeam& team, const std::string& path,
                                                PartitionBy partition) {
  MatrixReader reader(collective_open_matrix(communicator, path));
  const RowPartition rows = reader.collective_partition(partition);

  std::optional<MatrixAssembly> assembly;
  collective_attempt_with_memory(communicator, path,
                                 [&] { assembly.emplace(rows, communicator.rank()); });
  reader.collective_read(rows, Values::skip, [&](const MatrixEntry& entry) {
    assembly->count(entry.row, entry.column);
  });
  collective_attempt_with_memory(communicator, path, [&] { assembly->allocate(team); });
  reader.collective_read(rows, Values::parse, [&](const MatrixEntry& entry) {
    assembly->insert(entry.row, entry.column, entry.value);
  });
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
