#include "spmv/files/matrix_market_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_pass.h"
#include "spmv/files/matrix_market_pipeline.h"
#include "spmv/files/number_text.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"
#include "spmv/matrix/assembly.h"
#include "spmv/names/file_format.h"
#include "spmv/rows/entry_sample.h"
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
  MatrixReader(MatrixMarketFile file, const ComputeTeam& team)
      : file_(std::move(file)), team_(team), entries_(file_.header()) {}

  const MatrixMarketHeader& header() const { return file_.header(); }

  /// True if entries stand on both sides of the diagonal of a symmetric matrix. Known after a pass.
  bool has_both_triangles() const { return has_both_triangles_; }

  void collective_remark_on_rest(Remarks& remarks) { file_.collective_remark_on_rest(remarks); }

  /// Calls `take(entry, is mirrored)` for every entry of this rank's rows, those of the other half
  /// of a symmetric matrix too.
  template <class Take>
  void collective_read(const RowPartition& partition, Values values, Take&& take) {
    std::array<std::int64_t, 2> sides{};  // of the diagonal, on which there are entries
    const bool is_array = header().format == MatrixMarketHeader::Format::array;
    std::int64_t next = is_array ? file_.collective_first_number() : 0;
    const auto mirror = [&](const MatrixEntry& entry, const auto& keep) {
      // The matrix is sparse even where the file is not.
      if (is_array && entry.value == 0 && entry.row != entry.column) return;
      keep(entry);
      if (header().symmetry == Symmetry::general || entry.row == entry.column) return;
      sides[entry.row < entry.column ? 1 : 0] = 1;
      // A column below 0 marks a mirrored entry on its way.
      keep({entry.column, ~entry.row,
            header().symmetry == Symmetry::symmetric ? entry.value : -entry.value});
    };
    const auto read = [&](std::string_view lines, const auto& keep) {
      const auto take_half = [&](const MatrixEntry& entry) { mirror(entry, keep); };
      return is_array ? entries_.parse_array(lines, next, take_half)
                      : entries_.parse(lines, values, take_half);
    };
    const auto take_one = [&](const MatrixEntry& entry) {
      const bool is_mirrored = entry.column < 0;
      take(MatrixEntry{entry.row, is_mirrored ? ~entry.column : entry.column, entry.value},
           is_mirrored);
    };
    const auto dealing =
        is_array ? MatrixMarketRounds::Dealing::no : MatrixMarketRounds::Dealing::yes;
    const MatrixMarketPass pass = MatrixMarketPipeline::can_help(file_, team_)
                                      ? collective_read_ahead(partition, values, mirror, take_one)
                                      : collective_pass(file_, dealing, partition, read, take_one);
    if (pass.has_fault || pass.entry_count != header().entry_count)
      file_.collective_fail([&](std::string_view line,
                                std::int64_t number) { return entries_.fault_of(line, number); },
                            "the file changed while it was read; expected it to stay as it is");
    if (header().symmetry == Symmetry::general) return;
    file_.communicator().sum(sides);
    has_both_triangles_ = sides[0] > 0 && sides[1] > 0;
  }

  /// Says which lines give unequal values for an entry and its mirror image.
  /// Collective.
  [[noreturn]] void collective_fail_of(const MirrorMerge& merge) {
    const auto line_of = [&](GlobalIndex row, GlobalIndex column) {
      return file_.collective_find_line([&](std::string_view line) {
        bool is_wanted = false;
        entries_.parse(line, Values::skip, [&](const MatrixEntry& entry) {
          is_wanted = entry.row == row && entry.column == column;
        });
        return is_wanted;
      });
    };
    const bool is_skew = header().symmetry == Symmetry::skew_symmetric;
    Side first{merge.row, merge.column, merge.value, line_of(merge.row, merge.column)};
    Side second{merge.column, merge.row, is_skew ? -merge.mirrored : merge.mirrored,
                line_of(merge.column, merge.row)};
    if (first.line > second.line) std::swap(first, second);
    throw InputError(fault_at(
        file_.path(), second.line,
        "found " + second.text() + ", but line " + std::to_string(first.line) + " has " +
            first.text() + (is_skew ? "; expected opposite values" : "; expected equal values") +
            " in both triangles of a " + (is_skew ? "skew-symmetric" : "symmetric") +
            " matrix, or entries in one of them"));
  }

  /// The rows of the ranks.
  RowPartition collective_partition(PartitionBy by) {
    const auto& communicator = file_.communicator();
    const GlobalIndex rows = header().row_count;
    RowPartition partition = RowPartition::by_rows(rows, communicator.size());
    if (by == PartitionBy::rows || communicator.size() == 1) return partition;
    std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(rows)));
    const GlobalIndex block_size = RowPartition::block_size(rows);
    collective_read(partition, Values::skip, [&](const MatrixEntry& entry, bool) {
      ++nonzeros[static_cast<std::size_t>(entry.row / block_size)];
    });
    communicator.sum(nonzeros);
    return RowPartition::by_nonzeros(rows, communicator.size(), nonzeros);
  }

 private:
  template <class Mirror, class Take>
  MatrixMarketPass collective_read_ahead(const RowPartition& partition, Values values,
                                         const Mirror& mirror, const Take& take) {
    MatrixMarketPipeline pipeline(file_, entries_, values);
    const auto round = [&](const auto& keep, const MatrixMarketRouter& router,
                           std::int64_t& count) {
      return pipeline.round(
          [&](std::span<const MatrixEntry> entries) {
            for (const MatrixEntry& entry : entries) mirror(entry, keep);
          },
          [&] { return router.is_full(); }, count);
    };
    MatrixMarketPass pass;
    pipeline.run(team_, [&] {
      pass = collective_pass_in_rounds(file_.communicator(), partition, round, take);
    });
    return pass;
  }

  /// What a file says about one entry off the diagonal.
  struct Side {
    GlobalIndex row;
    GlobalIndex column;
    double value;
    std::int64_t line;

    std::string text() const {
      std::string text;
      append_number(text, value);
      return text + " for row " + std::to_string(row + 1) + ", column " +
             std::to_string(column + 1);
    }
  };

  MatrixMarketFile file_;
  const ComputeTeam& team_;
  MatrixMarketEntries entries_;
  bool has_both_triangles_ = false;
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
                                        const std::string& path, IndexBase base) {
  return MatrixMarketFile::collective_open(
      communicator, path,
      [&](const MatrixMarketHeader& header) {
        check_is_square_matrix(header);
        check_fits_ranks(header, communicator.size());
      },
      base);
}

/// A block of lines. A fault in them is found when all are read.
EntrySample first_entries(MatrixMarketFile& file) {
  EntrySample sample;
  if (file.header().format == MatrixMarketHeader::Format::array) return sample;
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
                                               const std::string& path, IndexBase base) {
  MatrixMarketFile file = collective_open_matrix(communicator, path, base);
  const MatrixMarketHeader& header = file.header();
  const std::int64_t on_diagonal =
      header.symmetry == Symmetry::symmetric ? std::min(header.row_count, header.entry_count) : 0;
  enum { varying, reach };
  std::array<std::int64_t, 2> found{};
  if (communicator.is_root()) {
    const EntrySample sample = first_entries(file);
    found = {sample.has_varying_rows(), sample.reach()};
  }
  communicator.broadcast(found, 0);
  return {header.row_count,
          header.symmetry == Symmetry::general ? header.entry_count
                                               : 2 * header.entry_count - on_diagonal,
          found[varying] != 0, found[reach]};
}

namespace {

void remark_on_kind(const std::string& path, const MatrixMarketHeader& header, Remarks& remarks) {
  if (is_triplet_name(path))
    remarks.push_back(
        path + ": a " +
        std::string(header.symmetry == Symmetry::general
                        ? "matrix"
                        : "symmetric matrix, of which one triangle "
                          "may be given,") +
        " of " + std::to_string(header.row_count) + " rows counted from " +
        std::to_string(header.base) +
        (header.words_of_reals == 0 ? "" : ", whose rows and columns are written as reals"));
  if (header.field == MatrixMarketHeader::Field::complex)
    remarks.push_back(path + ": all imaginary parts are 0; the matrix is taken as real");
}

}  // namespace

DistributedMatrix collective_read_matrix_market(const comm_thread::Communicator& communicator,
                                                const ComputeTeam& team, const std::string& path,
                                                PartitionBy partition, Remarks& remarks,
                                                IndexBase base) {
  MatrixReader reader(collective_open_matrix(communicator, path, base), team);
  const RowPartition rows = reader.collective_partition(partition);

  std::optional<MatrixAssembly> assembly;
  collective_attempt_with_memory(communicator, path,
                                 [&] { assembly.emplace(rows, communicator.rank()); });
  reader.collective_read(rows, Values::skip, [&](const MatrixEntry& entry, bool) {
    assembly->count(entry.row, entry.column);
  });
  collective_attempt_with_memory(communicator, path, [&] { assembly->allocate(team); });
  const bool has_both = reader.has_both_triangles();
  reader.collective_read(rows, Values::parse, [&](const MatrixEntry& entry, bool is_mirrored) {
    if (has_both && is_mirrored)
      assembly->insert_mirrored(entry.row, entry.column, entry.value);
    else
      assembly->insert(entry.row, entry.column, entry.value);
  });
  if (has_both) {
    const MirrorMerge merge = assembly->collective_merge_mirrored(communicator, team);
    if (merge.has_conflict) reader.collective_fail_of(merge);
    if (merge.pair_count > 0) remarks.push_back(text_of_merged_pairs(path, merge.pair_count));
  }
  remark_on_kind(path, reader.header(), remarks);
  reader.collective_remark_on_rest(remarks);
  return std::move(*assembly).collective_finish(communicator, team);
}

DistributedMatrix collective_read_matrix_market(const comm_thread::Communicator& communicator,
                                                const ComputeTeam& team, const std::string& path,
                                                PartitionBy partition) {
  Remarks unread;
  return collective_read_matrix_market(communicator, team, path, partition, unread);
}

}  // namespace weft::spmv
