#include "solver/choice/asymmetry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/sparse_exchange.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::CrsMatrix;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr double rounding_of_entries = 1e-10;
constexpr double rounding_of_diagonal = 1e-14;

/// An entry for the owner of its column.
struct Entry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
  double diagonal;  // |a_ii| of its row
};

/// The first asymmetry of those noted.
struct First {
  std::optional<Asymmetry> asymmetry;

  void note(const Asymmetry& found) {
    if (!asymmetry ||
        std::pair(found.row, found.column) < std::pair(asymmetry->row, asymmetry->column))
      asymmetry = found;
  }
};

/// The entries of this rank, and what is known about pairs of them.
class Rows {
 public:
  explicit Rows(const DistributedMatrix& matrix)
      : matrix_(matrix),
        rows_(matrix.rows),
        low_halo_end_(rows_.row_count +
                      static_cast<LocalIndex>(
                          std::ranges::lower_bound(matrix.halo_columns, matrix.first_row()) -
                          matrix.halo_columns.begin())) {}

  /// The first asymmetry of rows [begin, end), which one thread has.
  First scan(LocalIndex begin, LocalIndex end) const;
  /// Compares an entry of another rank with the own row of its column. `cursor`: of each own row,
  /// where the last look into it ended; most entries of a row come in their order.
  void compare(const Entry& entry, std::vector<std::int64_t>& cursor, First& first) const;
  /// Before the first entry: where each row begins.
  std::vector<std::int64_t> cursors() const {
    return {rows_.row_offsets.data(), rows_.row_offsets.data() + rows_.row_count};
  }
  /// A place among the own entries, in the order of the rows.
  struct Place {
    LocalIndex row = 0;
    std::int64_t entry = 0;
  };
  /// Moves `place` on to the next entry whose column another rank owns, from itself on; false where
  /// there is none.
  bool find_remote(Place& place) const;
  /// What the owner of its column is told about an own entry. `own_diagonal`: of its row.
  Entry describe(const Place& place, double own_diagonal) const {
    return {matrix_.first_row() + place.row, matrix_.global_column(column(place.entry)),
            value(place.entry), own_diagonal};
  }
  double diagonal(LocalIndex row) const { return std::abs(find(row, matrix_.first_row() + row)); }

 private:
  LocalIndex column(std::int64_t place) const {
    return rows_.columns[static_cast<std::size_t>(place)];
  }
  double value(std::int64_t place) const { return rows_.values[static_cast<std::size_t>(place)]; }
  std::int64_t row_begin(LocalIndex row) const {
    return rows_.row_offsets[static_cast<std::size_t>(row)];
  }
  bool is_own(LocalIndex column) const { return column < rows_.row_count; }
  /// True if a column is before the own row `row`.
  bool is_before(LocalIndex column, LocalIndex row) const {
    return is_own(column) ? column < row : column < low_halo_end_;
  }
  /// True if an own row has an entry in the columns up to a global one.
  bool has_columns_to(LocalIndex row, GlobalIndex column) const {
    return row_begin(row) < row_begin(row + 1) &&
           matrix_.global_column(this->column(row_begin(row))) <= column;
  }
  /// The entry of an own row in a column, by global number; 0 where there is none.
  double find(LocalIndex row, GlobalIndex column) const;
  /// The same from `place` in the row on, which moves to it.
  double find_from(std::int64_t& place, LocalIndex row, GlobalIndex column) const;
  /// `other_diagonal()`: |a_jj| of the column, which is asked for where it decides.
  template <class Diagonal>
  void compare(LocalIndex row, GlobalIndex column, double value, double transposed,
               const Diagonal& other_diagonal, First& first) const;
  void compare_own(LocalIndex row, LocalIndex column, double value, double transposed,
                   First& first) const {
    if (value != transposed)
      compare(
          row, matrix_.first_row() + column, value, transposed,
          [this, column] { return diagonal(column); }, first);
  }
  void scan_row(LocalIndex row, LocalIndex begin, LocalIndex end, std::vector<std::int64_t>& cursor,
                First& first) const;
  void pass(LocalIndex row, LocalIndex limit, std::int64_t& place, First& first) const;

  const DistributedMatrix& matrix_;
  const CrsMatrix& rows_;
  LocalIndex low_halo_end_;  // columns of ranks before this one are below it
};

double Rows::find(LocalIndex row, GlobalIndex column) const {
  std::int64_t low = row_begin(row);
  std::int64_t high = row_begin(row + 1);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (matrix_.global_column(this->column(middle)) < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < row_begin(row + 1) && matrix_.global_column(this->column(low)) == column ? value(low)
                                                                                        : 0;
}

double Rows::find_from(std::int64_t& place, LocalIndex row, GlobalIndex column) const {
  const auto global = [this](std::int64_t k) { return matrix_.global_column(this->column(k)); };
  if (place > row_begin(row) && global(place - 1) >= column) return find(row, column);
  while (place < row_begin(row + 1) && global(place) < column) ++place;
  return place < row_begin(row + 1) && global(place) == column ? value(place) : 0;
}

/// Compares entry (row, column) of an own row with its transposed one.
template <class Diagonal>
void Rows::compare(LocalIndex row, GlobalIndex column, double value, double transposed,
                   const Diagonal& other_diagonal, First& first) const {
  const double difference = std::abs(value - transposed);
  if (difference <= rounding_of_entries * std::max(std::abs(value), std::abs(transposed)) ||
      difference <= rounding_of_diagonal * diagonal(row) ||
      difference <= rounding_of_diagonal * other_diagonal())
    return;
  const GlobalIndex own = matrix_.first_row() + row;
  if (own < column)
    first.note({own, column, value, transposed});
  else
    first.note({column, own, transposed, value});
}

void Rows::compare(const Entry& entry, std::vector<std::int64_t>& cursor, First& first) const {
  const auto row = static_cast<LocalIndex>(entry.column - matrix_.first_row());
  const double own = find_from(cursor[static_cast<std::size_t>(row)], row, entry.row);
  if (own != entry.value)
    compare(row, entry.row, own, entry.value, [&] { return entry.diagonal; }, first);
}

/// Moves `place` in `row` on to the first entry that is not before column `limit`; what is passed
/// has no partner.
void Rows::pass(LocalIndex row, LocalIndex limit, std::int64_t& place, First& first) const {
  for (; place < row_begin(row + 1) && is_own(column(place)) && column(place) < limit; ++place)
    compare_own(row, column(place), value(place), 0, first);
}

/// `cursor`: of each row from `begin` on, the next entry in the columns [begin, row) whose partner
/// has not been met.
void Rows::scan_row(LocalIndex row, LocalIndex begin, LocalIndex end,
                    std::vector<std::int64_t>& cursor, First& first) const {
  pass(row, row, cursor[static_cast<std::size_t>(row - begin)], first);
  for (std::int64_t place = row_begin(row); place < row_begin(row + 1); ++place) {
    const LocalIndex j = column(place);
    const double a = value(place);
    if (j > row && j < end) {
      std::int64_t& partner = cursor[static_cast<std::size_t>(j - begin)];
      const auto is_partner = [&] { return partner < row_begin(j + 1) && column(partner) == row; };
      bool is_there = is_partner();  // nearly always
      if (!is_there) {
        pass(j, row, partner, first);
        is_there = is_partner();
      }
      compare_own(row, j, a, is_there ? value(partner) : 0, first);
      partner += is_there;
    } else if (is_own(j) && (j < begin || j >= end)) {
      compare_own(row, j, a, find(j, matrix_.first_row() + row), first);
    }
  }
}

/// Once a pair has been found, rows without a column up to its row are left out: pairs in them are
/// after it, as are those that an entry left out seems to miss.
First Rows::scan(LocalIndex begin, LocalIndex end) const {
  First first;
  std::vector<std::int64_t> cursor(static_cast<std::size_t>(end - begin));
  for (LocalIndex row = begin; row < end; ++row) {
    std::int64_t& place = cursor[static_cast<std::size_t>(row - begin)];
    place = row_begin(row);
    while (place < row_begin(row + 1) && is_before(column(place), begin)) ++place;
  }
  for (LocalIndex row = begin; row < end; ++row)
    if (!first.asymmetry || has_columns_to(row, first.asymmetry->row))
      scan_row(row, begin, end, cursor, first);
  return first;
}

bool Rows::find_remote(Place& place) const {
  if (matrix_.halo_columns.empty()) return false;
  for (; place.row < rows_.row_count; ++place.row)
    for (; place.entry < row_begin(place.row + 1); ++place.entry)
      if (!is_own(column(place.entry))) return true;
  return false;
}

/// Sends entries in columns of other ranks to these, a MB at a time, and compares those that come.
void collective_compare_remote(const Communicator& communicator, const DistributedMatrix& matrix,
                               const Rows& rows, First& first) {
  constexpr std::size_t most_entries = (1 << 20) / sizeof(Entry);
  if (communicator.size() == 1) return;
  std::vector<std::int64_t> cursor = rows.cursors();
  Rows::Place place;
  LocalIndex row = -1;
  double diagonal = 0;  // of `row`
  for (bool has_more = true; has_more;) {
    comm_thread::Lists<Entry> entries;
    std::size_t count = 0;
    for (; count < most_entries && rows.find_remote(place); ++place.entry, ++count) {
      if (std::exchange(row, place.row) != place.row) diagonal = rows.diagonal(row);
      const Entry entry = rows.describe(place, diagonal);
      entries[matrix.partition.owner(entry.column)].push_back(entry);
    }
    for (const auto& [rank, list] :
         comm_thread::collective_sparse_exchange(communicator, std::move(entries)))
      for (const Entry& entry : list) rows.compare(entry, cursor, first);
    has_more = communicator.max(std::int64_t{count == most_entries ? 1 : 0}) > 0;
  }
}

/// The first of all ranks' asymmetries.
std::optional<Asymmetry> collective_first(const Communicator& communicator,
                                          const std::optional<Asymmetry>& own) {
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  constexpr double least = -std::numeric_limits<double>::infinity();
  const GlobalIndex row = communicator.min(own ? own->row : none);
  if (row == none) return std::nullopt;
  const GlobalIndex column = communicator.min(own && own->row == row ? own->column : none);
  const bool is_own = own && own->row == row && own->column == column;
  return Asymmetry{row, column, communicator.max(is_own ? own->value : least),
                   communicator.max(is_own ? own->transposed : least)};
}

}  // namespace

std::string Asymmetry::text() const {
  return fmt::format("found {:g} at row {}, column {} and {:g} at row {}, column {}", value,
                     row + 1, column + 1, transposed, column + 1, row + 1);
}

std::optional<Asymmetry> collective_find_asymmetry(const spmv::SparseOperator& op) {
  const DistributedMatrix& matrix = op.matrix().matrix();
  const Rows rows(matrix);
  std::vector<First> found(static_cast<std::size_t>(op.team().thread_count()));
  op.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    found[index] =
        rows.scan(op.matrix().thread_rows()[index], op.matrix().thread_rows()[index + 1]);
  });
  First first;
  for (const First& part : found)
    if (part.asymmetry) first.note(*part.asymmetry);
  collective_compare_remote(op.communicator(), matrix, rows, first);
  return collective_first(op.communicator(), first.asymmetry);
}

}  // namespace weft::solver
