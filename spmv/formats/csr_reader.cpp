#include "spmv/formats/csr_reader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/simd.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/thread_rows.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::InputError;
using comm_thread::TeamThread;

constexpr std::int64_t piece_entries = 1 << 14;
constexpr std::int64_t short_piece_entries = 1 << 16;  // 256 KiB, which stay in a cache

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

/// Columns and values of this rank, which it reads once from now on.
void begin_sums(const CsrSource& source, const RowOffsets& offsets) {
  const std::int64_t begin = offsets.nonzeros_before;
  const std::int64_t end = begin + offsets.at[offsets.at.size() - 1];
  source.columns.begin_sum(begin, end);
  source.values.begin_sum(begin, end);
}

/// Calls take(row, column, place among the nonzeros) for the rows [first, last) of this rank.
template <class TakePiece>
void read_pieces(const CsrSource& source, const RowOffsets& offsets, std::size_t first,
                 std::size_t last, const TakePiece& take_piece) {
  std::vector<std::int64_t> columns;
  for (std::size_t row = first; row < last;) {
    std::size_t end = row + 1;
    while (end < last && offsets.at[end + 1] - offsets.at[row] <= piece_entries) ++end;
    columns.resize(static_cast<std::size_t>(offsets.at[end] - offsets.at[row]));
    const std::int64_t place = offsets.nonzeros_before + offsets.at[row];
    source.columns.read(place, columns, "columns");
    for (std::size_t k = 0; k < columns.size(); ++k)
      source.check_column(columns[k], place + static_cast<std::int64_t>(k));
    take_piece(row, end, columns);
    row = end;
  }
}

/// Runs `work(thread, first row, last row)` on the team, `cuts` saying who has which rows:
/// [thread count + 1]; the InputError of the first thread that has one is thrown here.
template <class Work>
void run_checked(const ComputeTeam& team, const std::vector<LocalIndex>& cuts, const Work& work) {
  std::vector<std::string> faults(cuts.size());
  team.run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    if (cuts[index] == cuts[index + 1]) return;
    try {
      work(thread.index, static_cast<std::size_t>(cuts[index]),
           static_cast<std::size_t>(cuts[index + 1]));
    } catch (const InputError& error) {
      faults[index] = error.what();
    }
  });
  for (const std::string& fault : faults)
    if (!fault.empty()) throw InputError(fault);
}

/// All rows for thread 0.
std::vector<LocalIndex> cuts_for_one(std::size_t row_count, int thread_count) {
  std::vector<LocalIndex> cuts(static_cast<std::size_t>(thread_count) + 1,
                               static_cast<LocalIndex>(row_count));
  cuts[0] = 0;
  return cuts;
}

/// Fills the matrix in one pass, where the columns of each row ascend, as programs write them.
///
/// A column of another rank first stands as −1 − its place in a list of the thread; when all are
/// known, it becomes that of the halo.
class OnePass {
 public:
  /// `offsets` outlive it. Throws InputError where there are too many rows for a rank.
  OnePass(const CsrSource& source, const RowPartition& partition, int rank, RowOffsets& offsets,
          const ComputeTeam& team)
      : source_(source),
        offsets_(offsets),
        team_(team),
        first_row_(partition.begin(rank)),
        row_count_(static_cast<std::size_t>(partition.size(rank))),
        finds_(static_cast<std::size_t>(team.thread_count())) {
    if (row_count_ > static_cast<std::size_t>(std::numeric_limits<LocalIndex>::max()))
      source.fail("found more rows for one rank than 2147483647; use more ranks");
    rows_.row_count = static_cast<LocalIndex>(row_count_);
    const auto nonzeros = static_cast<std::size_t>(offsets.at[row_count_]);
    rows_.columns = perfmodel::HugePageBuffer<LocalIndex>(nonzeros);
    rows_.values = perfmodel::HugePageBuffer<double>(nonzeros);
    cuts_ = cut_rows_for_threads(offsets.at.span(), RowPartition::block_size(partition.row_count()),
                                 team.thread_count());
  }

  /// False where columns do not ascend: the matrix is of no use then.
  bool read() {
    begin_sums(source_, offsets_);
    if (!source_.is_parallel()) touch_first();
    const auto cuts =
        source_.is_parallel() ? cuts_ : cuts_for_one(row_count_, team_.thread_count());
    run_checked(team_, cuts, [&](int thread, std::size_t begin, std::size_t end) {
      read_columns(finds_[static_cast<std::size_t>(thread)], begin, end);
    });
    if (!std::ranges::all_of(finds_, &Finds::is_in_order)) return false;
    run_checked(team_, cuts, [&](int, std::size_t begin, std::size_t end) {
      const std::int64_t first = offsets_.at[begin];
      source_.values.read(
          offsets_.nonzeros_before + first,
          {rows_.values.data() + first, static_cast<std::size_t>(offsets_.at[end] - first)},
          "values");
    });
    number_halo();
    return true;
  }

  /// Takes the offsets, too.
  CrsMatrix take_rows() {
    rows_.row_offsets = std::move(offsets_.at);
    return std::move(rows_);
  }
  std::vector<GlobalIndex> take_halo_columns() { return std::move(halo_columns_); }

 private:
  /// What a thread has found in its rows.
  struct Finds {
    bool is_in_order = true;
    std::vector<GlobalIndex> remote{};  // columns of other ranks, each once
    std::unordered_map<GlobalIndex, LocalIndex> place{};  // of each in `remote`
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges{};  // of nonzeros, with some of them

    LocalIndex place_of(GlobalIndex column) {
      const auto [found, is_new] =
          place.try_emplace(column, static_cast<LocalIndex>(remote.size()));
      if (is_new) remote.push_back(column);
      return found->second;
    }
  };

  void touch_first() {
    team_.run([&](const TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      const std::int64_t begin = offsets_.at[static_cast<std::size_t>(cuts_[index])];
      const std::int64_t end = offsets_.at[static_cast<std::size_t>(cuts_[index + 1])];
      std::fill(rows_.columns.data() + begin, rows_.columns.data() + end, 0);
      std::fill(rows_.values.data() + begin, rows_.values.data() + end, 0.0);
    });
  }

  void read_columns(Finds& finds, std::size_t begin, std::size_t end) {
    const NumberType& type = source_.columns.type;
    if (type.kind == NumberType::Kind::integer && type.bytes == sizeof(LocalIndex) &&
        source_.row_count <= std::numeric_limits<LocalIndex>::max())
      read_short_columns(finds, begin, end);
    else
      read_long_columns(finds, begin, end);
  }

  /// Columns of 32 bits go straight to where they belong and are made local there, in short loops
  /// of the widest vectors.
  void read_short_columns(Finds& finds, std::size_t begin, std::size_t end) {
    const auto& offsets = offsets_.at;
    for (std::size_t row = begin; row < end;) {
      const std::int64_t from = offsets[row];
      const auto later = offsets.span().subspan(row + 2, end - row - 1);
      const auto too_far = std::ranges::upper_bound(later, from + short_piece_entries);
      const std::size_t last = row + 1 + static_cast<std::size_t>(too_far - later.begin());
      const std::span<LocalIndex> columns{rows_.columns.data() + from,
                                          static_cast<std::size_t>(offsets[last] - from)};
      source_.columns.source->read(
          source_.columns.offset +
              (offsets_.nonzeros_before + from) * static_cast<std::int64_t>(sizeof(LocalIndex)),
          std::as_writable_bytes(columns));
      const bool has_remote = source_.columns.type.is_big_endian ? make_local<true>(columns)
                                                                 : make_local<false>(columns);
      finds.is_in_order = finds.is_in_order && is_in_order(columns, row, last);
      if (has_remote) {
        list_remote(finds, columns, offsets_.nonzeros_before + from);
        finds.ranges.emplace_back(from, offsets[last]);
      }
      row = last;
    }
  }

  /// True if the columns descend nowhere but between rows [row, last).
  bool is_in_order(std::span<const LocalIndex> columns, std::size_t row, std::size_t last) const {
    const std::int64_t* const offsets = offsets_.at.data();
    const std::int64_t from = offsets[row];
    // Without empty rows at the ends, each of these rows begins behind a column and before one.
    while (row < last && offsets[row + 1] == from) ++row;
    while (row < last && offsets[last - 1] == offsets[last]) --last;
    std::int32_t descents = 0;
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      const LocalIndex* const column = columns.data();
      std::int32_t found = 0;
      for (std::size_t k = 1; k < columns.size(); ++k)
        found += static_cast<std::int32_t>(column[k] <= column[k - 1]);
      for (std::size_t each = row + 1; each < last; ++each) {
        const std::int64_t k = offsets[each] - from;
        // An empty row begins where the next one does.
        found -= static_cast<std::int32_t>(column[k] <= column[k - 1]) &
                 static_cast<std::int32_t>(offsets[each] < offsets[each + 1]);
      }
      descents = found;
    });
    return descents == 0;
  }

  /// Counts columns from this rank's first one, from bytes as they are in the file. Returns whether
  /// some are of other ranks, or wrong.
  template <bool is_reversed>
  bool make_local(std::span<LocalIndex> columns) const {
    const auto first = static_cast<std::uint32_t>(first_row_);
    const auto count = static_cast<std::uint32_t>(row_count_);
    bool has_remote = false;
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      std::uint32_t found = 0;
      for (LocalIndex& column : columns) {
        auto own = static_cast<std::uint32_t>(column);
        if constexpr (is_reversed) own = __builtin_bswap32(own);
        own -= first;
        found |= static_cast<std::uint32_t>(own >= count);
        column = static_cast<LocalIndex>(own);
      }
      has_remote = found != 0;
    });
    return has_remote;
  }

  /// Lists the columns of other ranks among some that are local; the first of these stands at
  /// `place` of the file. Throws InputError where one is of no rank.
  void list_remote(Finds& finds, std::span<LocalIndex> columns, std::int64_t place) const {
    const auto first = static_cast<std::uint32_t>(first_row_);
    const auto count = static_cast<std::uint32_t>(row_count_);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto own = static_cast<std::uint32_t>(columns[k]);
      if (own < count) continue;
      const auto global = static_cast<LocalIndex>(own + first);
      source_.check_column(global, place + static_cast<std::int64_t>(k));
      columns[k] = -1 - finds.place_of(global);
    }
  }

  void read_long_columns(Finds& finds, std::size_t begin, std::size_t end) {
    read_pieces(source_, offsets_, begin, end,
                [&](std::size_t row, std::size_t last, const std::vector<std::int64_t>& columns) {
                  const std::int64_t from = offsets_.at[row];
                  const std::int64_t to = offsets_.at[last];
                  LocalIndex* const local = rows_.columns.data() + from;
                  bool has_remote = false;
                  for (; row < last; ++row) {
                    GlobalIndex before = -1;
                    for (std::int64_t k = offsets_.at[row] - from; k < offsets_.at[row + 1] - from;
                         ++k) {
                      const GlobalIndex column = columns[static_cast<std::size_t>(k)];
                      finds.is_in_order &= column > before;
                      before = column;
                      const GlobalIndex own = column - first_row_;
                      if (static_cast<std::uint64_t>(own) < row_count_) {
                        local[k] = static_cast<LocalIndex>(own);
                      } else {
                        local[k] = -1 - finds.place_of(column);
                        has_remote = true;
                      }
                    }
                  }
                  if (has_remote) finds.ranges.emplace_back(from, to);
                });
  }

  void number_halo() {
    for (const Finds& each : finds_)
      halo_columns_.insert(halo_columns_.end(), each.remote.begin(), each.remote.end());
    sort_columns(halo_columns_);
    if (std::ssize(halo_columns_) >= std::numeric_limits<LocalIndex>::max() - rows_.row_count)
      source_.fail("found more entries of x for one rank than 2147483647; use more ranks");
    team_.run([&](const TeamThread& thread) {
      const Finds& finds = finds_[static_cast<std::size_t>(thread.index)];
      std::vector<LocalIndex> numbers;
      for (const GlobalIndex column : finds.remote)
        numbers.push_back(rows_.row_count + halo_place(halo_columns_, column));
      for (const auto& [begin, end] : finds.ranges)
        for (std::int64_t k = begin; k < end; ++k) {
          LocalIndex& column = rows_.columns[static_cast<std::size_t>(k)];
          if (column < 0) column = numbers[static_cast<std::size_t>(-1 - column)];
        }
    });
  }

  const CsrSource& source_;
  RowOffsets& offsets_;
  const ComputeTeam& team_;
  GlobalIndex first_row_;
  std::size_t row_count_;
  CrsMatrix rows_;
  std::vector<LocalIndex> cuts_;  // of the threads that will use the rows
  std::vector<Finds> finds_;  // per thread
  std::vector<GlobalIndex> halo_columns_;
};

/// In two passes, whatever the order of the columns.
void assemble(const CsrSource& source, const RowOffsets& offsets, const ComputeTeam& team,
              MatrixAssembly& assembly) {
  const GlobalIndex first_row = assembly.first_row();
  const auto row_count = static_cast<std::size_t>(assembly.end_row() - first_row);
  const auto row_at = [&](std::size_t row) { return first_row + static_cast<GlobalIndex>(row); };
  auto cuts = cuts_for_one(row_count, team.thread_count());
  if (source.is_parallel())
    for (int thread = 0; thread < team.thread_count(); ++thread)
      cuts[static_cast<std::size_t>(thread)] = static_cast<LocalIndex>(
          comm_thread::share_of(static_cast<std::int64_t>(row_count), thread, team.thread_count())
              .begin);
  run_checked(team, cuts, [&](int thread, std::size_t begin, std::size_t end) {
    read_pieces(source, offsets, begin, end,
                [&](std::size_t row, std::size_t last, const std::vector<std::int64_t>& columns) {
                  const std::int64_t base = offsets.at[row];
                  for (; row < last; ++row)
                    for (std::int64_t k = offsets.at[row]; k < offsets.at[row + 1]; ++k)
                      assembly.count(row_at(row), columns[static_cast<std::size_t>(k - base)],
                                     thread);
                });
  });
  assembly.allocate(team);
  begin_sums(source, offsets);
  run_checked(team, cuts, [&](int, std::size_t begin, std::size_t end) {
    std::vector<double> values;
    read_pieces(source, offsets, begin, end,
                [&](std::size_t row, std::size_t last, const std::vector<std::int64_t>& columns) {
                  const std::int64_t base = offsets.at[row];
                  values.resize(columns.size());
                  source.values.read(offsets.nonzeros_before + base, values, "values");
                  for (; row < last; ++row)
                    for (std::int64_t k = offsets.at[row]; k < offsets.at[row + 1]; ++k) {
                      const auto place = static_cast<std::size_t>(k - base);
                      assembly.insert(row_at(row), columns[place], values[place]);
                    }
                });
  });
}

}  // namespace

DistributedMatrix collective_read_csr(const Communicator& communicator, const ComputeTeam& team,
                                      const CsrSource& source, PartitionBy partition_by) {
  comm_thread::collective_attempt(communicator, [&] { source.check_sizes(communicator.size()); });
  RowPartition partition = collective_partition(communicator, source, partition_by);
  const int rank = communicator.rank();
  RowOffsets offsets =
      collective_read_offsets(communicator, source, partition.begin(rank), partition.end(rank));
  const auto attempt = [&](const std::function<void()>& work) {
    collective_attempt_to_store(communicator, source, work);
  };
  std::optional<OnePass> one_pass;
  bool is_complete = false;
  attempt([&] {
    one_pass.emplace(source, partition, rank, offsets, team);
    is_complete = one_pass->read();
  });
  if (communicator.max(std::int64_t{is_complete ? 0 : 1}) == 0)
    return {std::move(partition), rank, one_pass->take_rows(), one_pass->take_halo_columns(),
            source.nonzero_count};
  one_pass.reset();
  std::optional<MatrixAssembly> assembly;
  attempt([&] {
    assembly.emplace(std::move(partition), rank, team.thread_count());
    assemble(source, offsets, team, *assembly);
  });
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
