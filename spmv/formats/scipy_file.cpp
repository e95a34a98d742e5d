#include "spmv/formats/scipy_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "spmv/arrays/byte_source.h"
#include "spmv/arrays/number_array.h"
#include "spmv/arrays/zip_directory.h"
#include "spmv/formats/archive_writer.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/numpy_file.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

/// Throws comm_thread::InputError where the arrays are of different lengths.
void check_counts(const CsrSource& source) {
  const bool has_offsets = source.has_offsets;
  const bool is_by_columns = source.layout == CsrSource::Layout::columns;
  const std::int64_t expected = !has_offsets    ? source.nonzero_count
                                : is_by_columns ? source.column_count + 1
                                                : source.row_count + 1;
  if (source.rows.count == expected && source.columns.count == source.nonzero_count) return;
  source.fail("found " + std::to_string(source.rows.count) +
              (has_offsets ? " offsets, " : " rows, ") + std::to_string(source.columns.count) +
              (has_offsets ? " indices and " : " columns and ") +
              std::to_string(source.nonzero_count) + " values for " +
              std::to_string(is_by_columns ? source.column_count : source.row_count) +
              (is_by_columns ? " columns" : " rows") + "; expected " +
              (has_offsets ? "one offset more than that, and as many indices as values"
                           : "as many of each"));
}

/// All numbers of an array that says where others belong; its checksum has been compared. Throws
/// comm_thread::InputError where it has more than `most`.
std::vector<std::int64_t> read_all(const ZipDirectory& archive, const std::string& member,
                                   std::int64_t most) {
  const NumberArray array = open_numpy_array(archive.open(member));
  if (array.count > most)
    throw InputError(array.source->name() + ": found " + std::to_string(array.count) +
                     " numbers in " + member + "; expected at most " + std::to_string(most));
  if (PartOfBytes* const part = array.source->unchecked())
    part->checksum().compare(part->sum_of(0, part->size()), part->name());
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(array.count));
  array.read(0, numbers, member);
  return numbers;
}

void check_blocks(const ShapedArray& data, std::int64_t rows, std::int64_t columns) {
  const std::vector<std::int64_t>& shape = data.shape;
  const bool is_whole = shape.size() == 3 && shape[1] > 0 && shape[2] > 0 && rows % shape[1] == 0 &&
                        columns % shape[2] == 0 && !data.is_by_columns;
  if (!is_whole)
    throw InputError(data.numbers.source->name() +
                     ": found blocks in another shape; expected (blocks, rows, "
                     "columns) whose sizes divide the " +
                     std::to_string(rows) + " rows and " + std::to_string(columns) +
                     " columns: save_npz(FILE, A.tocsr())");
}

/// Blocks (bsr): data[block][row of the block][column of the block]. Every rank holds where the
/// rows of blocks begin, and which columns the blocks have.
CsrSource open_blocks(const ZipDirectory& archive, std::int64_t rows, std::int64_t column_count) {
  const ShapedArray data = open_shaped_array(archive.open("data.npy"));
  const auto& file = data.numbers.source;
  const std::vector<std::int64_t>& shape = data.shape;
  check_blocks(data, rows, column_count);
  const std::int64_t block_rows = shape[1];
  const std::int64_t block_columns = shape[2];
  const auto begins = std::make_shared<const std::vector<std::int64_t>>(
      read_all(archive, "indptr.npy", rows / block_rows + 1));
  const auto columns =
      std::make_shared<const std::vector<std::int64_t>>(read_all(archive, "indices.npy", shape[0]));
  if (std::ssize(*begins) != rows / block_rows + 1 || std::ssize(*columns) != shape[0] ||
      !std::ranges::is_sorted(*begins) || begins->front() != 0 || begins->back() != shape[0])
    throw InputError(file->name() + ": found offsets and indices that do not fit the " +
                     std::to_string(shape[0]) +
                     " blocks; expected offsets that ascend from 0 to their number");
  const std::int64_t size = block_rows * block_columns;
  CsrSource source{.layout = CsrSource::Layout::entries,
                   .row_count = rows,
                   .column_count = column_count,
                   .nonzero_count = data.numbers.count};
  source.rows = computed_numbers(file, data.numbers.count, [=](std::int64_t k) {
    const auto row = std::ranges::upper_bound(*begins, k / size) - begins->begin() - 1;
    return row * block_rows + k % size / block_columns;
  });
  source.columns = computed_numbers(file, data.numbers.count, [=](std::int64_t k) {
    const std::int64_t block = (*columns)[static_cast<std::size_t>(k / size)];
    // A product that would overflow stands for a column that the matrix does not have.
    if (block < 0 || block >= column_count) return block < 0 ? block : column_count;
    return block * block_columns + k % block_columns;
  });
  source.values = data.numbers;
  source.remarks = remarks_on_numbers(source.values);
  return source;
}

struct Diagonal {
  std::int64_t number = 0;  // of its first entry among all
  std::int64_t place = 0;  // of this entry in the data
  std::int64_t column = 0;
  std::int64_t offset = 0;
};

/// The diagonals that have entries, each of which has `length` places in the data. Returns how many
/// entries they have.
std::int64_t find_diagonals(std::span<const std::int64_t> offsets, std::int64_t rows,
                            std::int64_t columns, std::int64_t length,
                            std::vector<Diagonal>& diagonals) {
  std::int64_t count = 0;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const std::int64_t offset = offsets[d];
    if (offset <= -rows || offset >= columns) continue;
    const std::int64_t begin = std::max<std::int64_t>(0, offset);
    const std::int64_t end = std::min({columns, rows + offset, length});
    if (begin >= end) continue;
    diagonals.push_back({count, static_cast<std::int64_t>(d) * length + begin, begin, offset});
    count += end - begin;
  }
  return count;
}

/// Diagonals (dia): data[diagonal][column], of which those are entries that lie in the matrix.
CsrSource open_diagonals(const ZipDirectory& archive, std::int64_t rows, std::int64_t columns) {
  const ShapedArray data = open_shaped_array(archive.open("data.npy"));
  const auto& file = data.numbers.source;
  const std::vector<std::int64_t>& shape = data.shape;
  const std::vector<std::int64_t> offsets =
      read_all(archive, "offsets.npy", shape.empty() ? 0 : shape[0]);
  if (shape.size() != 2 || std::ssize(offsets) != shape[0] || data.is_by_columns)
    throw InputError(file->name() +
                     ": found diagonals in another shape; expected data[diagonal][column] and as "
                     "many offsets: save_npz(FILE, A.tocsr())");
  const auto diagonals = std::make_shared<std::vector<Diagonal>>();
  const std::int64_t count = find_diagonals(offsets, rows, columns, shape[1], *diagonals);
  const auto diagonal_of = [diagonals](std::int64_t k) -> const Diagonal& {
    return *std::prev(std::ranges::upper_bound(*diagonals, k, {}, &Diagonal::number));
  };
  CsrSource source{.layout = CsrSource::Layout::entries,
                   .row_count = rows,
                   .column_count = columns,
                   .nonzero_count = count};
  source.columns = computed_numbers(file, count, [=](std::int64_t k) {
    const Diagonal& diagonal = diagonal_of(k);
    return diagonal.column + k - diagonal.number;
  });
  source.rows = computed_numbers(file, count, [=](std::int64_t k) {
    const Diagonal& diagonal = diagonal_of(k);
    return diagonal.column + k - diagonal.number - diagonal.offset;
  });
  const std::int64_t bytes = data.numbers.type.bytes;
  source.values = {gathered_bytes(file, count * bytes,
                                  [=, begin = data.numbers.offset](std::int64_t place) {
                                    const Diagonal& diagonal = diagonal_of(place / bytes);
                                    return begin + diagonal.place * bytes + place -
                                           diagonal.number * bytes;
                                  }),
                   0, count, data.numbers.type};
  if (PartOfBytes* const part = file->unchecked())
    part->checksum().compare(part->sum_of(0, part->size()), part->name());
  source.remarks = remarks_on_numbers(source.values);
  return source;
}

/// Rows and columns; an array of one dimension is one column.
std::array<std::int64_t, 2> shape_of(const ZipDirectory& archive) {
  const NumberArray shape = open_numpy_array(archive.open("shape.npy"));
  std::array<std::int64_t, 2> sizes{0, 1};
  if (shape.count != 1 && shape.count != 2)
    throw InputError(shape.source->name() + ": found a shape of " + std::to_string(shape.count) +
                     " sizes; expected two sizes");
  shape.read(0, std::span(sizes).first(static_cast<std::size_t>(shape.count)), "shape");
  if (sizes[0] < 0 || sizes[1] < 0)
    throw InputError(shape.source->name() + ": found " + std::to_string(sizes[0]) + " rows and " +
                     std::to_string(sizes[1]) + " columns; expected sizes of at least 0");
  return sizes;
}

/// A matrix of any shape, without remarks on the rest of the archive.
CsrSource open_members(const ZipDirectory& archive) {
  using Layout = CsrSource::Layout;
  const auto format_text = archive.open("format.npy");
  const std::string format = read_numpy_text(*format_text);
  const bool is_known =
      format == "csr" || format == "csc" || format == "coo" || format == "bsr" || format == "dia";
  if (!is_known)
    throw InputError(format_text->name() + ": found the format '" + format +
                     "'; expected csr, csc, coo, bsr or dia: save_npz(FILE, A.tocsr())");
  const auto [rows, columns] = shape_of(archive);
  if (format == "bsr") return open_blocks(archive, rows, columns);
  if (format == "dia") return open_diagonals(archive, rows, columns);
  const bool has_offsets = format != "coo";
  // An array of one dimension is in one row, which is our column.
  const bool is_flat = open_numpy_array(archive.open("shape.npy")).count == 1;
  CsrSource source{.layout = !has_offsets                 ? Layout::entries
                             : format == "csc" || is_flat ? Layout::columns
                                                          : Layout::rows,
                   .row_count = rows,
                   .column_count = columns,
                   .has_offsets = has_offsets};
  source.values = open_numpy_array(archive.open("data.npy"));
  source.nonzero_count = source.values.count;
  if (has_offsets) {
    source.rows = open_numpy_array(archive.open("indptr.npy"));
    source.columns = open_numpy_array(archive.open("indices.npy"));
  } else if (is_flat) {
    source.rows = open_numpy_array(archive.open("coords.npy"));
    source.columns = computed_numbers(source.values.source, source.nonzero_count,
                                      [](std::int64_t) { return std::int64_t{0}; });
  } else {
    source.rows = open_numpy_array(archive.open("row.npy"));
    source.columns = open_numpy_array(archive.open("col.npy"));
  }
  check_counts(source);
  source.remarks = remarks_on_numbers(source.values);
  return source;
}

void append_remarks(Remarks& remarks, Remarks more) {
  for (std::string& remark : more) remarks.push_back(std::move(remark));
}

/// A matrix of any shape.
CsrSource open_sparse(const ZipDirectory& archive) {
  CsrSource source = open_members(archive);
  append_remarks(source.remarks, archive.remarks_on_rest("_is_array.npy"));
  return source;
}

}  // namespace

CsrSource open_scipy_matrix(const std::string& path) {
  CsrSource source = open_sparse(ZipDirectory(std::make_shared<FileBytes>(path)));
  if (source.row_count != source.column_count)
    throw InputError(path + ": found " + std::to_string(source.row_count) + " rows and " +
                     std::to_string(source.column_count) + " columns; expected a square matrix");
  return source;
}

bool holds_scipy_matrix(const std::string& path) {
  const ZipDirectory archive(std::make_shared<FileBytes>(path));
  if (!archive.has("format.npy")) return false;
  const auto [rows, columns] = shape_of(archive);
  return (rows > 1 && columns > 1) || rows == columns;
}

VectorSource open_scipy_vector(const std::string& path) {
  const ZipDirectory archive(std::make_shared<FileBytes>(path));
  VectorSource source;
  if (archive.has("format.npy")) {
    source.sparse = open_sparse(archive);
    source.remarks = source.sparse->remarks;
    return source;
  }
  const std::vector<std::string> names = archive.names();
  if (names.size() != 1) {
    std::string found;
    for (const std::string& name : names) found += (found.empty() ? "" : ", ") + name;
    throw InputError(path + ": found " + std::to_string(names.size()) + " arrays (" + found +
                     "); expected one, or FILE.npy: numpy.save('b.npy', numpy.load('" + path +
                     "')[NAME])");
  }
  source.array = open_shaped_array(archive.open(names[0]));
  source.remarks = remarks_on_numbers(source.array.numbers);
  append_remarks(source.remarks, archive.remarks_on_rest(""));
  return source;
}

void collective_write_scipy_matrix(const Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path) {
  const CsrPart part = CsrPart::collective_of(communicator, matrix);
  const std::int64_t rows = matrix.partition.row_count();
  const std::int64_t nonzeros = matrix.global_nonzero_count;
  const int bytes = std::max(rows, nonzeros) > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
  const std::string index = bytes == 4 ? "<i4" : "<i8";
  const auto append_index = [&](std::int64_t number, std::vector<std::byte>& to) {
    if (bytes == 4)
      append_bytes(to, static_cast<std::int32_t>(number), false);
    else
      append_bytes(to, number, false);
  };
  const std::int64_t of_root = communicator.is_root() ? 1 : 0;
  const bool is_last = communicator.rank() == communicator.size() - 1;
  const auto vector_shape = [](std::int64_t count) { return "(" + std::to_string(count) + ",)"; };
  ArchiveWriter archive(communicator, path);
  archive.collective_add("indices.npy", index, vector_shape(nonzeros), nonzeros, bytes,
                         part.first_nonzero, part.nonzero_count(),
                         [&](std::int64_t k, auto& to) { append_index(part.column(k), to); });
  archive.collective_add(
      "indptr.npy", index, vector_shape(rows + 1), rows + 1, bytes, matrix.first_row(),
      part.row_count() + (is_last ? 1 : 0),
      [&](std::int64_t row, auto& to) { append_index(part.row_offset(row), to); });
  archive.collective_add("format.npy", "|S3", "()", 1, 3, 0, of_root, [](std::int64_t, auto& to) {
    for (const char c : {'c', 's', 'r'}) to.push_back(static_cast<std::byte>(c));
  });
  archive.collective_add("shape.npy", "<i8", "(2,)", 2, 8, 0, 2 * of_root,
                         [&](std::int64_t, auto& to) { append_bytes(to, rows, false); });
  archive.collective_add("data.npy", "<f8", vector_shape(nonzeros), nonzeros, 8, part.first_nonzero,
                         part.nonzero_count(),
                         [&](std::int64_t k, auto& to) { append_bytes(to, part.value(k), false); });
  archive.collective_finish();
}

}  // namespace weft::spmv
