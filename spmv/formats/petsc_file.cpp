#include "spmv/formats/petsc_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/shared_output.h"
#include "spmv/formats/vector_reader.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::int64_t matrix_id = 1211216;
constexpr std::int64_t vector_id = 1211214;

NumberType index_type(int bytes) { return {NumberType::Kind::integer, bytes, true}; }
constexpr NumberType value_type{NumberType::Kind::real, 8, true};

/// The first `count` numbers of a file, and how many bytes they have.
struct PetscHeader {
  std::array<std::int64_t, 4> numbers{};
  int index_bytes = 4;
};

PetscHeader read_header(const std::shared_ptr<FileBytes>& file, std::int64_t wanted,
                        std::int64_t count, const std::string& what) {
  for (const int bytes : {4, 8}) {
    if (file->size() < bytes) break;
    PetscHeader header{.index_bytes = bytes};
    const NumberArray array{file, 0, count, index_type(bytes)};
    array.read(0, std::span(header.numbers).first(1), "header");
    if (header.numbers[0] != wanted) continue;
    array.check_size("header");
    array.read(0, std::span(header.numbers).first(static_cast<std::size_t>(count)), "header");
    return header;
  }
  throw InputError(file->name() + ": does not begin as " + what +
                   " in PETSc's binary format; expected the number " + std::to_string(wanted));
}

/// Writes the numbers of the header on rank 0.
void write_header(const Communicator& communicator, SharedOutput& output,
                  std::span<const std::int64_t> numbers, int index_bytes) {
  if (!communicator.is_root()) return;
  std::vector<std::byte> bytes;
  for (const std::int64_t number : numbers)
    if (index_bytes == 4)
      append_bytes(bytes, static_cast<std::int32_t>(number), true);
    else
      append_bytes(bytes, number, true);
  output.write(0, bytes);
}

}  // namespace

bool holds_petsc_matrix(const std::string& path) {
  const auto file = std::make_shared<FileBytes>(path);
  std::array<std::int64_t, 1> id{};
  for (const int bytes : {4, 8}) {
    if (file->size() < bytes) return false;
    NumberArray{file, 0, 1, index_type(bytes)}.read(0, id, "header");
    if (id[0] == matrix_id) return true;
  }
  return false;
}

std::int64_t petsc_vector_length(const std::string& path) {
  return read_header(std::make_shared<FileBytes>(path), vector_id, 2, "a vector").numbers[1];
}

CsrSource open_petsc_matrix(const std::string& path) {
  const auto file = std::make_shared<FileBytes>(path);
  const PetscHeader header = read_header(file, matrix_id, 4, "a matrix");
  const auto [id, rows, columns, nonzeros] = header.numbers;
  if (rows != columns || rows < 0)
    throw InputError(path + ": found " + std::to_string(rows) + " rows and " +
                     std::to_string(columns) + " columns; expected a square matrix");
  if (nonzeros < 0)
    throw InputError(path + ": found " + std::to_string(nonzeros) +
                     " nonzeros, which stands for a dense matrix; expected a sparse one");
  const NumberType index = index_type(header.index_bytes);
  const std::int64_t begin = 4 * std::int64_t{index.bytes};
  // Sizes are compared with the file's before they are multiplied.
  if (rows > file->size() / index.bytes || nonzeros > file->size() / (index.bytes + 8))
    throw InputError(path + ": found " + std::to_string(rows) + " rows and " +
                     std::to_string(nonzeros) + " nonzeros in a file of " +
                     std::to_string(file->size()) + " bytes; expected fewer, or a whole file");
  CsrSource source{.row_count = rows, .nonzero_count = nonzeros};
  source.rows = {file, begin, rows, index};
  source.columns = {file, begin + rows * index.bytes, nonzeros, index};
  source.values = {file, begin + (rows + nonzeros) * index.bytes, nonzeros, value_type};
  return source;
}

std::vector<double> collective_read_petsc_vector(const Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path) {
  return collective_read_vector(communicator, partition, path, [&] {
    const auto file = std::make_shared<FileBytes>(path);
    const PetscHeader header = read_header(file, vector_id, 2, "a vector");
    const NumberArray values{file, 2 * std::int64_t{header.index_bytes}, header.numbers[1],
                             value_type};
    values.check_size("vector");
    return values;
  });
}

void collective_write_petsc_matrix(const Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path) {
  const CsrPart part = CsrPart::collective_of(communicator, matrix);
  const std::int64_t rows = matrix.partition.row_count();
  const std::int64_t nonzeros = matrix.global_nonzero_count;
  const int bytes = std::max(rows, nonzeros) > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
  SharedOutput output(communicator, path);
  write_header(communicator, output, std::array{matrix_id, rows, rows, nonzeros}, bytes);
  const auto append_index = [&](std::int64_t number, std::vector<std::byte>& to) {
    if (bytes == 4)
      append_bytes(to, static_cast<std::int32_t>(number), true);
    else
      append_bytes(to, number, true);
  };
  const std::int64_t rows_begin = 4 * std::int64_t{bytes};
  const std::int64_t columns_begin = rows_begin + rows * bytes;
  const std::int64_t values_begin = columns_begin + nonzeros * bytes;
  write_items(output, rows_begin + matrix.first_row() * bytes, part.row_count(),
              [&](std::int64_t row, auto& to) { append_index(part.row_length(row), to); });
  write_items(output, columns_begin + part.first_nonzero * bytes, part.nonzero_count(),
              [&](std::int64_t k, auto& to) { append_index(part.column(k), to); });
  write_items(output, values_begin + part.first_nonzero * 8, part.nonzero_count(),
              [&](std::int64_t k, auto& to) { append_bytes(to, part.value(k), true); });
  output.collective_finish();
}

void collective_write_petsc_vector(const Communicator& communicator, const RowPartition& partition,
                                   std::span<const double> own, const std::string& path) {
  const std::int64_t rows = partition.row_count();
  const int bytes = rows > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
  SharedOutput output(communicator, path);
  write_header(communicator, output, std::array{vector_id, rows}, bytes);
  write_items(
      output, 2 * std::int64_t{bytes} + 8 * partition.begin(communicator.rank()), std::ssize(own),
      [&](std::int64_t i, auto& to) { append_bytes(to, own[static_cast<std::size_t>(i)], true); });
  output.collective_finish();
}

}  // namespace weft::spmv
