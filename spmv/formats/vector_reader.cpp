#include "spmv/formats/vector_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <new>
#include <span>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/arrays/byte_source.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::int64_t entries_of_piece = 1 << 14;

/// Rows, columns and values of this rank's part.
struct OwnColumns {
  GlobalIndex first_row;
  GlobalIndex row_count;
  std::int64_t count;
  std::vector<double> values{};  // [row_count][count]

  /// Throws std::bad_alloc.
  void reserve() {
    std::size_t size = 0;
    if (__builtin_mul_overflow(row_count, count, &size) || size > values.max_size())
      throw std::bad_alloc();
    values.reserve(size);
    perfmodel::prefer_huge_pages(values.data(), values.data() + size);
    values.resize(size);
  }
  double& at(GlobalIndex row, std::int64_t column) {
    return values[static_cast<std::size_t>((row - first_row) * count + column)];
  }
};

/// Numbers behind one another by rows, or by columns.
void read_array(const ShapedArray& array, GlobalIndex all_rows, OwnColumns& own) {
  if (!array.is_by_columns || own.count == 1) {
    array.numbers.read(own.first_row * own.count, own.values, "vector");
    return;
  }
  std::vector<double> column(static_cast<std::size_t>(own.row_count));
  for (std::int64_t c = 0; c < own.count; ++c) {
    array.numbers.read(c * all_rows + own.first_row, column, "vector");
    for (GlobalIndex row = 0; row < own.row_count; ++row)
      own.at(own.first_row + row, c) = column[static_cast<std::size_t>(row)];
  }
}

/// Rows for columns.
CsrSource transposed(CsrSource source) {
  using Layout = CsrSource::Layout;
  std::swap(source.row_count, source.column_count);
  if (source.layout == Layout::entries)
    std::swap(source.rows, source.columns);
  else
    source.layout = source.layout == Layout::rows ? Layout::columns : Layout::rows;
  return source;
}

/// Where each column begins, and the last one ends, among the nonzeros.
std::vector<std::int64_t> column_offsets(const CsrSource& source) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(source.column_count + 1));
  if (source.has_offsets) {
    source.rows.read(0, offsets, "offsets");
  } else {
    source.rows.read(0, std::span(offsets).subspan(1), "lengths");
    for (std::size_t c = 1; c < offsets.size(); ++c)
      if (__builtin_add_overflow(offsets[c], offsets[c - 1], &offsets[c])) offsets[c] = -1;
  }
  if (offsets.front() != 0 || offsets.back() != source.nonzero_count ||
      !std::ranges::is_sorted(offsets))
    source.fail("found offsets that do not fit the " + std::to_string(source.nonzero_count) +
                " nonzeros; expected offsets that ascend from 0 to their number");
  return offsets;
}

/// Entries [begin, end) of a sparse matrix, whose rows and columns `place_of` finds, added to those
/// of own rows.
template <class PlaceOf>
void add_entries(const CsrSource& source, std::int64_t begin, std::int64_t end,
                 const PlaceOf& place_of, OwnColumns& own) {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> rows;
  std::vector<double> values;
  const bool has_rows = source.layout == CsrSource::Layout::entries;
  for (std::int64_t first = begin; first < end; first += entries_of_piece) {
    const auto count = static_cast<std::size_t>(std::min(entries_of_piece, end - first));
    numbers.resize(count);
    rows.resize(has_rows ? count : 0);
    values.resize(count);
    source.columns.read(first, numbers, "columns");
    source.rows.read(first, rows, "rows");
    source.values.read(first, values, "values");
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t place = first + static_cast<std::int64_t>(k);
      const auto [row, column] = place_of(place, numbers[k], has_rows ? rows[k] : 0);
      if (row < 0 || row >= source.row_count || column < 0 || column >= source.column_count)
        source.fail("found row " + std::to_string(row) + " and column " + std::to_string(column) +
                    " in number " + std::to_string(place) + "; expected less than " +
                    std::to_string(source.row_count) + " and " +
                    std::to_string(source.column_count));
      if (row >= own.first_row && row < own.first_row + own.row_count)
        own.at(row, column) += values[k];
    }
  }
}

using PlaceOfEntry = std::pair<GlobalIndex, GlobalIndex>;

void collective_read_by_rows(const Communicator& communicator, const CsrSource& source,
                             OwnColumns& own) {
  const RowOffsets offsets =
      collective_read_offsets(communicator, source, own.first_row, own.first_row + own.row_count);
  const std::int64_t begin = offsets.nonzeros_before;
  const std::int64_t end = begin + offsets.at[offsets.at.size() - 1];
  source.columns.begin_sum(begin, end);
  source.values.begin_sum(begin, end);
  std::size_t row = 0;
  comm_thread::collective_attempt(communicator, [&] {
    add_entries(
        source, begin, end,
        [&](std::int64_t place, std::int64_t column, std::int64_t) {
          while (offsets.at[row + 1] <= place - begin) ++row;
          return PlaceOfEntry{own.first_row + static_cast<GlobalIndex>(row), column};
        },
        own);
  });
}

/// Every rank reads the whole and keeps the entries of its own rows.
void collective_read_whole(const Communicator& communicator, const CsrSource& source,
                           OwnColumns& own) {
  // One rank counts for the checksums what all read.
  for (const NumberArray* const array : {&source.rows, &source.columns, &source.values})
    array->begin_sum(0, communicator.is_root() ? array->count : 0);
  comm_thread::collective_attempt(communicator, [&] {
    if (source.layout == CsrSource::Layout::entries)
      return add_entries(
          source, 0, source.nonzero_count,
          [](std::int64_t, std::int64_t column, std::int64_t row) {
            return PlaceOfEntry{row, column};
          },
          own);
    const std::vector<std::int64_t> offsets = column_offsets(source);
    std::size_t column = 0;
    add_entries(
        source, 0, source.nonzero_count,
        [&](std::int64_t place, std::int64_t row, std::int64_t) {
          while (offsets[column + 1] <= place) ++column;
          return PlaceOfEntry{row, static_cast<GlobalIndex>(column)};
        },
        own);
  });
}

/// Collective.
void collective_read_sparse(const Communicator& communicator, const CsrSource& source,
                            OwnColumns& own) {
  if (source.layout == CsrSource::Layout::rows)
    collective_read_by_rows(communicator, source, own);
  else
    collective_read_whole(communicator, source, own);
  collective_compare_checksums(communicator, source);
}

/// Throws comm_thread::InputError where the arrays are longer than their file.
void check_sizes(const VectorSource& source) {
  if (!source.sparse) return source.array.numbers.check_size("vector");
  for (const NumberArray* const array :
       {&source.sparse->rows, &source.sparse->columns, &source.sparse->values})
    array->check_size("sparse vector");
}

/// An array in an archive has a checksum.
void check_sum(const NumberArray& numbers) {
  if (PartOfBytes* const part = numbers.source->unchecked())
    part->checksum().compare(part->sum_of(0, part->size()), part->name());
}

}  // namespace

std::vector<std::int64_t> VectorSource::sizes() const {
  return sparse ? std::vector{sparse->row_count, sparse->column_count} : array.shape;
}

std::int64_t columns_of(const VectorSource& source, const std::string& path, GlobalIndex row_count,
                        std::int64_t most) {
  const std::vector<std::int64_t> sizes = source.sizes();
  const bool has_columns = sizes.size() == 2 && sizes[0] == row_count;
  const std::int64_t numbers = source.sparse ? 0 : source.array.numbers.count;
  if (source.may_be_flat && !source.array.is_by_columns && !has_columns && numbers == row_count)
    return 1;
  const ColumnCount columns = source.sparse ? sparse_columns_of(sizes, row_count, most)
                                            : columns_of(sizes, row_count, most);
  if (!columns.fault.empty()) throw InputError(path + ": " + columns.fault);
  return columns.count;
}

FileColumns collective_read_columns(const Communicator& communicator, const RowPartition& partition,
                                    const std::string& path, std::int64_t most,
                                    const std::function<VectorSource()>& open, Remarks& remarks) {
  VectorSource source;
  OwnColumns own{.first_row = partition.begin(communicator.rank()),
                 .row_count = partition.size(communicator.rank()),
                 .count = 1};
  comm_thread::collective_attempt(communicator, [&] {
    source = open();
    own.count = columns_of(source, path, partition.row_count(), most);
    check_sizes(source);
    try {
      own.reserve();
    } catch (const std::bad_alloc&) {
      throw InputError(path + ": found " + std::to_string(own.count) +
                       " columns, which need more memory than there is; expected fewer");
    }
    if (source.sparse) return;
    if (communicator.is_root()) check_sum(source.array.numbers);
    read_array(source.array, partition.row_count(), own);
  });
  if (source.sparse) {
    const bool is_one_row = source.sparse->row_count != partition.row_count();
    collective_read_sparse(
        communicator, is_one_row ? transposed(std::move(*source.sparse)) : *source.sparse, own);
  }
  remarks.insert(remarks.end(), source.remarks.begin(), source.remarks.end());
  return {own.count, std::move(own.values)};
}

}  // namespace weft::spmv
