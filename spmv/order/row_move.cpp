#include "spmv/order/row_move.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/row_delivery.h"
#include "spmv/rows/thread_rows.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;

constexpr std::size_t words_of_round = (1 << 20) / sizeof(std::int32_t);
/// What one rank can receive if all others send to it alone, for small numbers of ranks.
constexpr std::size_t received_words = 4 * words_of_round;
constexpr std::size_t fewest_words = 1 << 12;
/// Rows that are fetched ahead: those of a bad order are anywhere.
constexpr std::size_t rows_ahead = 8;
/// Entries of a row up to which each is compared with all others to find its place.
constexpr std::size_t most_compared = 64;

/// Writes the entries of a row in ascending order of column. No column comes twice.
class RowSorter {
 public:
  void operator()(std::span<const std::int32_t> from, std::span<const double> values,
                  LocalIndex* to_columns, double* to_values) {
    if (from.size() > most_compared) return sort_long(from, values, to_columns, to_values);
    // Whole vectors are compared; what is beyond the row has any place.
    for (std::size_t k = 0; k < from.size(); ++k) columns_[k / lanes][k % lanes] = from[k];
    for (std::size_t k = 0; k < from.size(); k += lanes) {
      const Lanes& columns = columns_[k / lanes];
      Lanes before{};
      for (const std::int32_t column : from) before -= column < columns;  // true is -1
      places_[k / lanes] = before;
    }
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::int32_t place = places_[k / lanes][k % lanes];
      to_columns[place] = from[k];
      to_values[place] = values[k];
    }
  }

 private:
  // GCC compares longer vectors one element after the other.
  static constexpr std::size_t lanes = 4;
  using Lanes = std::int32_t __attribute__((vector_size(16)));

  void sort_long(std::span<const std::int32_t> from, std::span<const double> values,
                 LocalIndex* to_columns, double* to_values) {
    entries_.clear();
    for (std::size_t k = 0; k < from.size(); ++k) entries_.emplace_back(from[k], values[k]);
    std::ranges::sort(entries_, {}, &std::pair<std::int32_t, double>::first);
    for (const auto& [column, value] : entries_) {
      *to_columns++ = column;
      *to_values++ = value;
    }
  }

  std::array<Lanes, most_compared / lanes> columns_{};
  std::array<Lanes, most_compared / lanes> places_{};
  std::vector<std::pair<std::int32_t, double>> entries_;
};

/// Rows in new places. Until all have come, `columns` are global, and 32 bits are enough:
/// collective_order_rows takes fewer than 2^30 rows.
class RowMove {
 public:
  RowMove(const Communicator& communicator, const comm_thread::ComputeTeam& team,
          const DistributedMatrix& given, const RowOrder& order)
      : communicator_(communicator),
        team_(team),
        given_(given),
        order_(order),
        first_row_(order.ordered().begin(communicator.rank())) {
    rows_.row_count = static_cast<LocalIndex>(order.ordered().size(communicator.rank()));
  }

  DistributedMatrix collective_move() {
    const auto new_columns = order_.collective_new_columns(given_);
    new_columns_.assign(new_columns.begin(), new_columns.end());
    collective_allocate();
    copy_staying_rows();
    if (communicator_.size() > 1) collective_exchange_rows();
    number_columns();
    return {order_.ordered(), communicator_.rank(), std::move(rows_), std::move(halo_columns_),
            given_.global_nonzero_count};
  }

 private:
  void collective_allocate() {
    auto& offsets = rows_.row_offsets;
    offsets =
        perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(rows_.row_count) + 1);
    offsets[0] = 0;
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row < order_.new_rows().size(); ++row)
      lengths.push_back(given_.rows.row_offsets[row + 1] - given_.rows.row_offsets[row]);
    collective_deliver<std::int64_t>(communicator_, order_.ordered(), order_.new_rows(), lengths,
                                     [&](GlobalIndex row, std::int64_t length) {
                                       offsets[static_cast<std::size_t>(row - first_row_) + 1] =
                                           length;
                                     });
    for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
    const auto nonzeros = static_cast<std::size_t>(rows_.nonzero_count());
    rows_.columns = perfmodel::HugePageBuffer<LocalIndex>(nonzeros);
    rows_.values = perfmodel::HugePageBuffer<double>(nonzeros);
    thread_rows_ =
        cut_rows_for_threads(offsets.span(), RowPartition::block_size(order_.ordered().row_count()),
                             team_.thread_count());
    if (communicator_.size() == 1 || team_.thread_count() == 1) return;
    // Rows that arrive are written by the main thread, on pages of the threads that will use them.
    for_rows_of_threads([&](std::size_t /*thread*/, std::size_t first, std::size_t last) {
      std::ranges::fill(entries_of(rows_.columns, first, last), 0);
      std::ranges::fill(entries_of(rows_.values, first, last), 0.0);
    });
  }

  /// Calls `work(thread, first row, last row)` in every thread for the rows that it will work on.
  template <class Work>
  void for_rows_of_threads(const Work& work) {
    team_.run([&](const TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      work(index, static_cast<std::size_t>(thread_rows_[index]),
           static_cast<std::size_t>(thread_rows_[index + 1]));
    });
  }

  /// Of `all`, columns or values, those of rows first … last-1.
  template <class Entry>
  std::span<Entry> entries_of(perfmodel::HugePageBuffer<Entry>& all, std::size_t first,
                              std::size_t last) {
    const std::int64_t begin = rows_.row_offsets[first];
    return all.span().subspan(static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(rows_.row_offsets[last] - begin));
  }

  /// Where the row that becomes the own row `row` is among the own given rows; beyond their end if
  /// another rank has it.
  std::size_t given_place(std::size_t row) const {
    return static_cast<std::size_t>(order_.given_rows()[row] - given_.first_row());
  }
  bool stays(std::size_t given_place) const {
    return given_place < static_cast<std::size_t>(given_.rows.row_count);
  }

  /// Fetches what rows after the own row `row` need. Inline, because GCC leaves out calls of
  /// functions that only fetch.
  [[gnu::always_inline]] void fetch_ahead(std::size_t row, std::size_t last) const {
    if (row + 2 * rows_ahead < last && stays(given_place(row + 2 * rows_ahead)))
      __builtin_prefetch(&given_.rows.row_offsets[given_place(row + 2 * rows_ahead)]);
    if (row + rows_ahead >= last || !stays(given_place(row + rows_ahead))) return;
    const auto entry =
        static_cast<std::size_t>(given_.rows.row_offsets[given_place(row + rows_ahead)]);
    __builtin_prefetch(given_.rows.columns.data() + entry);
    __builtin_prefetch(given_.rows.columns.data() + entry + 16);  // the next line of the cache
    __builtin_prefetch(given_.rows.values.data() + entry);
    __builtin_prefetch(given_.rows.values.data() + entry + 8);
  }

  void copy_staying_rows() {
    if (given_.rows.nonzero_count() == 0) return;
    for_rows_of_threads([&](std::size_t /*thread*/, std::size_t first, std::size_t last) {
      RowSorter sort;
      std::vector<std::int32_t> columns;
      for (std::size_t row = first; row < last; ++row) {
        fetch_ahead(row, last);
        const std::size_t from = given_place(row);
        if (!stays(from)) continue;
        const auto [given_columns, given_values] = given_row(from);
        columns.clear();
        for (const LocalIndex column : given_columns)
          columns.push_back(new_columns_[static_cast<std::size_t>(column)]);
        const auto place = static_cast<std::size_t>(rows_.row_offsets[row]);
        sort(columns, given_values, rows_.columns.data() + place, rows_.values.data() + place);
      }
    });
  }

  std::pair<std::span<const LocalIndex>, std::span<const double>> given_row(
      std::size_t place) const {
    const auto begin = static_cast<std::size_t>(given_.rows.row_offsets[place]);
    const auto count = static_cast<std::size_t>(given_.rows.row_offsets[place + 1]) - begin;
    return {{given_.rows.columns.data() + begin, count},
            {given_.rows.values.data() + begin, count}};
  }

  /// Rows that leave, and those that come. A message is of words of 32 bits: for each row its new
  /// number, how many entries it has, their columns, and their values, two words each.
  void collective_exchange_rows() {
    const std::size_t most_words =
        std::clamp(received_words / static_cast<std::size_t>(communicator_.size()), fewest_words,
                   words_of_round);
    const auto given_count = static_cast<std::size_t>(given_.rows.row_count);
    std::size_t row = 0;
    for (bool has_more = true; has_more;) {
      comm_thread::Lists<std::int32_t> words;
      std::size_t sent = 0;
      for (bool is_full = false; row < given_count && !is_full; ++row) {
        const int owner = order_.ordered().owner(order_.new_rows()[row]);
        if (owner == communicator_.rank()) continue;
        auto& message = words[owner];
        const std::size_t before = message.size();
        append(row, message);
        sent += message.size() - before;
        is_full = sent >= words_of_round || message.size() >= most_words;
      }
      for (const auto& [source, message] :
           comm_thread::collective_sparse_exchange(communicator_, std::move(words)))
        receive(message);
      has_more = communicator_.sum(std::int64_t{row < given_count}) > 0;
    }
  }

  void append(std::size_t row, std::vector<std::int32_t>& words) const {
    const auto [columns, values] = given_row(row);
    words.push_back(static_cast<std::int32_t>(order_.new_rows()[row]));
    words.push_back(static_cast<std::int32_t>(columns.size()));
    for (const LocalIndex column : columns)
      words.push_back(new_columns_[static_cast<std::size_t>(column)]);
    const std::size_t begin = words.size();
    words.resize(begin + 2 * values.size());
    std::memcpy(words.data() + begin, values.data(), values.size_bytes());
  }

  void receive(std::span<const std::int32_t> words) {
    RowSorter sort;
    std::vector<double> values;
    while (!words.empty()) {
      const auto row = static_cast<std::size_t>(words[0] - first_row_);
      const auto count = static_cast<std::size_t>(words[1]);
      const auto place = static_cast<std::size_t>(rows_.row_offsets[row]);
      values.resize(count);
      std::memcpy(values.data(), words.data() + 2 + count, count * sizeof(double));
      sort(words.subspan(2, count), values, rows_.columns.data() + place,
           rows_.values.data() + place);
      words = words.subspan(2 + 3 * count);
    }
  }

  bool is_own(std::int32_t column) const {
    return column >= first_row_ && column < first_row_ + rows_.row_count;
  }

  /// Local numbers of columns instead of global ones.
  void number_columns() {
    if (communicator_.size() == 1) return;  // they are the same
    std::vector<std::vector<GlobalIndex>> remote(static_cast<std::size_t>(team_.thread_count()));
    for_rows_of_threads([&](std::size_t thread, std::size_t first, std::size_t last) {
      std::size_t most = 1024;  // columns before those that come again are taken out
      for (const LocalIndex column : entries_of(rows_.columns, first, last)) {
        if (is_own(column)) continue;
        remote[thread].push_back(column);
        if (remote[thread].size() < most) continue;
        sort_columns(remote[thread]);
        most = std::max(most, 2 * remote[thread].size());
      }
      sort_columns(remote[thread]);
    });
    for (const auto& columns : remote)
      halo_columns_.insert(halo_columns_.end(), columns.begin(), columns.end());
    sort_columns(halo_columns_);
    for_rows_of_threads([&](std::size_t /*thread*/, std::size_t first, std::size_t last) {
      for (LocalIndex& column : entries_of(rows_.columns, first, last))
        column = is_own(column) ? column - static_cast<LocalIndex>(first_row_)
                                : rows_.row_count + halo_place(halo_columns_, column);
    });
  }

  const Communicator& communicator_;
  const comm_thread::ComputeTeam& team_;
  const DistributedMatrix& given_;
  const RowOrder& order_;
  GlobalIndex first_row_;  // of the own ordered rows
  std::vector<std::int32_t> new_columns_;  // of the given local columns
  std::vector<LocalIndex> thread_rows_;  // [thread_count + 1]
  CrsMatrix rows_;
  std::vector<GlobalIndex> halo_columns_;
};

}  // namespace

DistributedMatrix collective_reorder(const Communicator& communicator,
                                     const comm_thread::ComputeTeam& team,
                                     const DistributedMatrix& matrix, const RowOrder& order) {
  return RowMove(communicator, team, matrix, order).collective_move();
}

}  // namespace weft::spmv
