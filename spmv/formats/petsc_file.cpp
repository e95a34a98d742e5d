#include "spmv/formats/petsc_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "spmv/arrays/byte_source.h"
#include "spmv/arrays/number_array.h"
#include "spmv/arrays/shared_output.h"
#include "spmv/formats/csr_output.h"
#include "spmv/names/file_format.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::int64_t matrix_id = 1211216;
constexpr std::int64_t vector_id = 1211214;
constexpr std::int64_t index_set_id = 1211218;
constexpr std::int64_t first_id = 1211200;  // of classes of PETSc, which are 100
constexpr std::int64_t dense = -1;  // instead of a number of nonzeros

NumberType index_type(int bytes) { return {NumberType::Kind::integer, bytes, true}; }

/// Numbers of a build whose scalars have so many bytes.
NumberType value_type(int bytes) {
  return {bytes == 16 ? NumberType::Kind::complex : NumberType::Kind::real, bytes, true};
}

/// A matrix, a vector or another object in a file.
struct PetscObject {
  std::int64_t id = 0;
  std::int64_t begin = 0;  // of its first number
  std::int64_t end = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;

  std::string text() const {
    if (id == matrix_id)
      return "a matrix of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
             " columns";
    if (id == vector_id) return "a vector of length " + std::to_string(rows);
    return "an object of class " + std::to_string(id);
  }
};

/// The objects of a file, one behind another, as one build of PETSc has written them.
struct PetscObjects {
  std::shared_ptr<FileBytes> file;
  int index_bytes = 4;
  int scalar_bytes = 8;
  std::vector<PetscObject> all{};
  std::int64_t end = 0;  // behind the last one
};

/// "FILE.petsc:NUMBER" in its two parts; 0 where the number is missing.
struct PetscName {
  std::string file;
  std::size_t number = 0;

  explicit PetscName(std::string_view path) : file(path.substr(0, end_of_petsc_name(path))) {
    if (file.size() == path.size()) return;
    const std::string_view digits = path.substr(file.size() + 1);
    const auto found = comm_thread::number_in<std::int64_t>(digits);
    if (!found || *found < 1)
      throw InputError(std::string(path) + ": found \"" + std::string(digits) +
                       "\" behind the colon; expected the number of an object of the file, "
                       "counted from 1");
    number = static_cast<std::size_t>(*found);
  }
};

/// The number at `place`, or nothing where the file has ended.
std::optional<std::int64_t> index_at(const PetscObjects& objects, std::int64_t place) {
  if (place > objects.file->size() - objects.index_bytes) return std::nullopt;
  std::array<std::int64_t, 1> number{};
  NumberArray{objects.file, place, 1, index_type(objects.index_bytes)}.read(0, number, "header");
  return number[0];
}

bool is_class(std::int64_t id) { return id >= first_id && id < first_id + 100; }

/// Bytes of `count` items of `size` bytes, or nothing where the file has fewer.
std::optional<std::int64_t> bytes_of(const PetscObjects& objects, std::int64_t count,
                                     std::int64_t size) {
  if (count < 0 || count > objects.file->size() / size) return std::nullopt;
  return count * size;
}

/// The object at `place`; nothing where it does not fit, or where its size is not known.
std::optional<PetscObject> object_at(const PetscObjects& objects, std::int64_t place) {
  const std::int64_t index = objects.index_bytes;
  PetscObject object{.id = index_at(objects, place).value_or(0), .begin = place};
  const auto number = [&](std::int64_t which) {
    return index_at(objects, place + which * index).value_or(-2);
  };
  std::optional<std::int64_t> bytes;
  if (object.id == vector_id || object.id == index_set_id) {
    object.rows = number(1);
    object.columns = 1;
    bytes = bytes_of(objects, object.rows,
                     object.id == vector_id ? objects.scalar_bytes : objects.index_bytes);
    object.end = place + 2 * index;
  } else if (object.id == matrix_id) {
    object.rows = number(1);
    object.columns = number(2);
    object.nonzeros = number(3);
    object.end = place + 4 * index;
    if (object.nonzeros == dense) {
      if (const auto row = bytes_of(objects, object.columns, objects.scalar_bytes); row && *row > 0)
        bytes = bytes_of(objects, object.rows, *row);
    } else if (const auto lengths = bytes_of(objects, object.rows, index)) {
      bytes = bytes_of(objects, object.nonzeros, index + objects.scalar_bytes);
      if (bytes) *bytes += *lengths;
    }
  }
  if (!bytes || object.end > objects.file->size() - *bytes) return std::nullopt;
  object.end += *bytes;
  return object;
}

/// Walks from object to object. False where one does not fit into the file, or where neither
/// another one nor the end of the file follows it; a class of unknown size ends the walk.
bool walk(PetscObjects& objects) {
  while (objects.end < objects.file->size()) {
    const auto id = index_at(objects, objects.end);
    if (!id || !is_class(*id)) return false;
    if (*id != matrix_id && *id != vector_id && *id != index_set_id) return !objects.all.empty();
    const auto object = object_at(objects, objects.end);
    if (!object) return false;
    objects.all.push_back(*object);
    objects.end = object->end;
  }
  return !objects.all.empty();
}

/// Says how many bytes the first object should have, where no reading fits.
[[noreturn]] void fail_of_size(const PetscObjects& objects) {
  const auto number = [&](std::int64_t which) {
    return index_at(objects, which * objects.index_bytes).value_or(0);
  };
  const std::string size = " in a file of " + std::to_string(objects.file->size()) + " bytes";
  const bool is_matrix = number(0) == matrix_id;
  const std::string what = is_matrix ? "a matrix of " + std::to_string(number(1)) + " rows, " +
                                           std::to_string(number(2)) + " columns and " +
                                           std::to_string(number(3)) + " nonzeros"
                                     : "a vector of length " + std::to_string(number(1));
  throw InputError(objects.file->name() + ": found " + what + size +
                   "; expected a whole file, of a build with double, complex or single-precision "
                   "scalars, which would end there or go on with another object of PETSc");
}

/// Only one size of the scalars makes the objects end where the file ends, or where another object
/// begins. Throws comm_thread::InputError where none does, or more than one.
PetscObjects open_objects(const std::string& path) {
  PetscObjects found{.file = std::make_shared<FileBytes>(path)};
  const auto begins = [&](int bytes) {
    found.index_bytes = bytes;
    return is_class(index_at(found, 0).value_or(0));
  };
  if (!begins(4) && !begins(8))
    throw InputError(path +
                     ": does not begin as a matrix or a vector in PETSc's binary format; "
                     "expected the number " +
                     std::to_string(matrix_id) + " or " + std::to_string(vector_id));
  std::vector<PetscObjects> readings;
  for (const int bytes : {8, 16, 4}) {
    PetscObjects reading = found;
    reading.scalar_bytes = bytes;
    if (!walk(reading)) continue;
    // Objects without scalars look alike to all builds.
    if (readings.empty() || readings[0].end != reading.end ||
        readings[0].all.size() != reading.all.size())
      readings.push_back(std::move(reading));
  }
  if (readings.empty()) fail_of_size(found);
  if (readings.size() > 1)
    throw InputError(path + ": found a file that is whole with scalars of " +
                     std::to_string(readings[0].scalar_bytes) + " and of " +
                     std::to_string(readings[1].scalar_bytes) +
                     " bytes; expected one that only one build can have written");
  return std::move(readings[0]);
}

/// The object that a name means: by its number, or the first one of a class.
const PetscObject& choose(const PetscObjects& objects, const PetscName& name, std::int64_t id) {
  const std::string wanted = id == matrix_id ? "a matrix" : "a vector";
  const std::string path = name.file + (name.number ? ":" + std::to_string(name.number) : "");
  if (name.number > objects.all.size())
    throw InputError(path + ": found " + std::to_string(objects.all.size()) +
                     (objects.all.size() == 1 ? " object" : " objects") + "; expected " + wanted +
                     " as number " + std::to_string(name.number));
  if (name.number > 0) {
    const PetscObject& object = objects.all[name.number - 1];
    if (object.id != id)
      throw InputError(path + ": found " + object.text() + "; expected " + wanted);
    return object;
  }
  const auto object = std::ranges::find(objects.all, id, &PetscObject::id);
  if (object == objects.all.end())
    throw InputError(path + ": found " + objects.all[0].text() + "; expected " + wanted);
  return *object;
}

/// A vector; or a matrix that is named by its number, or one that is not square where there is no
/// vector.
const PetscObject& choose_columns(const PetscObjects& objects, const PetscName& name) {
  const auto& all = objects.all;
  if (name.number > 0 && name.number <= all.size() && all[name.number - 1].id == matrix_id)
    return all[name.number - 1];
  const auto has_columns = [](const PetscObject& object) {
    return object.id == matrix_id && object.rows != object.columns;
  };
  const auto columns = std::ranges::find_if(all, has_columns);
  const bool has_vector = std::ranges::find(all, vector_id, &PetscObject::id) != all.end();
  if (name.number == 0 && !has_vector && columns != all.end()) return *columns;
  return choose(objects, name, vector_id);
}

/// What to say about scalars of another build, and about objects beside `used`.
Remarks remarks_on(const PetscObjects& objects, const PetscObject& used) {
  Remarks remarks;
  const std::string name = objects.file->name() + ": ";
  if (objects.scalar_bytes == 16)
    remarks.push_back(name +
                      "of a build of PETSc with complex scalars; all imaginary parts are zero, and "
                      "the real parts were read");
  if (objects.scalar_bytes == 4)
    remarks.push_back(name +
                      "of a build of PETSc with single precision; its numbers have 7 digits");
  std::string others;
  for (std::size_t i = 0; i < objects.all.size(); ++i)
    if (objects.all[i].begin != used.begin)
      others += (others.empty() ? "" : ", ") + objects.all[i].text() + " (" + objects.file->name() +
                ":" + std::to_string(i + 1) + ")";
  if (!others.empty())
    remarks.push_back(name + "holds more than " + used.text() + ", which was read: " + others);
  if (objects.end < objects.file->size())
    remarks.push_back(name + std::to_string(objects.file->size() - objects.end) +
                      " bytes at its end are of an object of another class, and were not read");
  return remarks;
}

/// Of any shape.
CsrSource sparse_matrix(const PetscObjects& objects, const PetscObject& object) {
  const NumberType index = index_type(objects.index_bytes);
  const std::int64_t place = object.begin + 4 * std::int64_t{index.bytes};
  const std::int64_t columns = place + object.rows * index.bytes;
  CsrSource source{
      .row_count = object.rows, .column_count = object.columns, .nonzero_count = object.nonzeros};
  source.rows = {objects.file, place, object.rows, index};
  source.columns = {objects.file, columns, object.nonzeros, index};
  source.values = {objects.file, columns + object.nonzeros * index.bytes, object.nonzeros,
                   value_type(objects.scalar_bytes)};
  return source;
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

void check_petsc_output(const std::string& path) {
  if (PetscName(path).number > 0)
    throw InputError(path + ": found a number for a file to write; expected " +
                     path.substr(0, end_of_petsc_name(path)));
}

bool holds_petsc_matrix(const std::string& path) {
  const PetscName name(path);
  const PetscObjects objects = open_objects(name.file);
  if (name.number > 0 && name.number <= objects.all.size())
    return objects.all[name.number - 1].id == matrix_id;
  return std::ranges::find(objects.all, matrix_id, &PetscObject::id) != objects.all.end();
}

std::int64_t petsc_vector_length(const std::string& path) {
  const PetscName name(path);
  return choose(open_objects(name.file), name, vector_id).rows;
}

CsrSource open_petsc_matrix(const std::string& path) {
  const PetscName name(path);
  const PetscObjects objects = open_objects(name.file);
  const PetscObject& object = choose(objects, name, matrix_id);
  const std::int64_t rows = object.rows;
  if (rows != object.columns || rows < 0)
    throw InputError(path + ": found " + std::to_string(rows) + " rows and " +
                     std::to_string(object.columns) + " columns; expected a square matrix");
  CsrSource source;
  if (object.nonzeros == dense) {
    const auto& file = objects.file;
    source = {.row_count = rows, .nonzero_count = rows * rows};
    source.rows = computed_numbers(file, rows, [rows](std::int64_t) { return rows; });
    source.columns =
        computed_numbers(file, rows * rows, [rows](std::int64_t k) { return k % rows; });
    source.values = {file, object.begin + 4 * std::int64_t{objects.index_bytes}, rows * rows,
                     value_type(objects.scalar_bytes)};
  } else {
    source = sparse_matrix(objects, object);
  }
  source.remarks = remarks_on(objects, object);
  if (object.nonzeros == dense)
    source.remarks.push_back(path + ": a dense matrix, stored as a sparse one");
  return source;
}

VectorSource open_petsc_vector(const std::string& path) {
  const PetscName name(path);
  const PetscObjects objects = open_objects(name.file);
  const PetscObject& object = choose_columns(objects, name);
  const bool is_matrix = object.id == matrix_id;
  VectorSource source{.remarks = remarks_on(objects, object)};
  const NumberType value = value_type(objects.scalar_bytes);
  const std::int64_t index = objects.index_bytes;
  if (!is_matrix || object.nonzeros == dense) {
    source.array.shape = {object.rows};
    if (is_matrix) source.array.shape.push_back(object.columns);
    source.array.numbers = {objects.file, object.begin + (is_matrix ? 4 : 2) * index,
                            object.rows * object.columns, value};
  } else {
    source.sparse = sparse_matrix(objects, object);
  }
  return source;
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
