#include "spmv/formats/hdf5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "spmv/formats/hdf5_array.h"
#include "spmv/formats/hdf5_handle.h"
#include "spmv/formats/hdf5_name.h"

namespace weft::spmv {
namespace {

using hdf5::fail;
using hdf5::Handle;
using hdf5::has;
using hdf5::members_of;
using hdf5::open_array;
using hdf5::open_dataset;
using hdf5::open_file;
using hdf5::open_group;
using hdf5::open_row_or_column;
using hdf5::try_in_child;

/// The text of a dataset or an attribute of `type`, which `read` puts into memory; empty where it
/// is none.
template <class Read>
std::string text_in(const Handle& type, const Handle& space, const Read& read) {
  if (H5Tget_class(type.id()) != H5T_STRING || H5Sget_simple_extent_npoints(space.id()) != 1)
    return {};
  if (H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    std::string copy;
    if (read(static_cast<void*>(&text)) >= 0 && text) copy = text;
    if (text) H5free_memory(text);
    return copy;
  }
  constexpr std::size_t most = 256;
  const std::size_t size = H5Tget_size(type.id());
  if (size > most) return {};
  std::string text(size, '\0');
  if (read(static_cast<void*>(text.data())) < 0) return {};
  return text.substr(0, text.find('\0'));
}

/// The text of an attribute; empty where there is none.
std::string text_of(const Handle& object, const char* attribute_name) {
  if (H5Aexists(object.id(), attribute_name) <= 0) return {};
  const Handle attribute(H5Aopen(object.id(), attribute_name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  return text_in(type, space, [&](void* to) { return H5Aread(attribute.id(), type.id(), to); });
}

/// `count` whole numbers of an attribute; none where there is no such attribute.
std::vector<std::int64_t> numbers_of(const Hdf5Name& name, const Handle& object,
                                     const char* attribute_name, std::size_t count) {
  if (H5Aexists(object.id(), attribute_name) <= 0) return {};
  const Handle attribute(H5Aopen(object.id(), attribute_name, H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  std::vector<std::int64_t> numbers(count);
  if (H5Sget_simple_extent_npoints(space.id()) != static_cast<hssize_t>(count) ||
      H5Tget_class(type.id()) != H5T_INTEGER ||
      H5Aread(attribute.id(), H5T_NATIVE_INT64, numbers.data()) < 0)
    fail(name, fmt::format("found the attribute {} without {} whole number{}; expected {}",
                           attribute_name, count, count == 1 ? "" : "s",
                           count == 1 ? "one" : "rows and columns"));
  return numbers;
}

/// True if an attribute is a number other than 0.
bool is_set(const Handle& object, const char* attribute_name) {
  if (H5Aexists(object.id(), attribute_name) <= 0) return false;
  const Handle attribute(H5Aopen(object.id(), attribute_name, H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  std::int64_t number = 0;
  return H5Sget_simple_extent_npoints(space.id()) == 1 &&
         H5Aread(attribute.id(), H5T_NATIVE_INT64, &number) >= 0 && number != 0;
}

/// Octave's save -hdf5 keeps a variable in a group, with the words of its type and its value.
std::string octave_type_of(const Handle& group) {
  if (!group.is_open() || !has(group, "type") || !has(group, "value")) return {};
  const Handle dataset = open_dataset(group, "type");
  if (!dataset.is_open()) return {};
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  return text_in(type, space, [&](void* to) {
    return H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
  });
}

/// The datasets of a matrix in compressed storage.
struct Members {
  const char* offsets;
  const char* indices;
  const char* values;
  bool is_by_columns;
};
constexpr Members of_scipy{"indptr", "indices", "data", false};
constexpr Members of_matlab{"jc", "ir", "data", true};
constexpr Members of_octave{"cidx", "ridx", "data", true};
constexpr Members of_petsc{"i", "j", "a", false};

bool has_all(const Handle& group, const Members& members) {
  return has(group, members.offsets) && has(group, members.indices) && has(group, members.values);
}

/// The names of the datasets of the matrix that a group is; none where it is no matrix.
std::optional<Members> members_of_matrix(const Handle& group) {
  if (!group.is_open()) return std::nullopt;
  if (has_all(group, of_scipy)) return of_scipy;
  if (H5Aexists(group.id(), "MATLAB_sparse") > 0 && has(group, of_matlab.offsets)) return of_matlab;
  if (has_all(group, of_octave)) return of_octave;
  if (has_all(group, of_petsc)) return of_petsc;
  return std::nullopt;
}

/// The group `member` of `parent`, or the one that Octave has put into it.
Handle open_matrix_group(const Handle& parent, const std::string& member) {
  Handle group = open_group(parent, member);
  if (octave_type_of(group).empty()) return group;
  Handle value = open_group(group, "value");
  return value.is_open() ? std::move(value) : std::move(group);
}

bool is_matrix(const Handle& parent, const std::string& member) {
  return members_of_matrix(open_matrix_group(parent, member)).has_value();
}

/// The only member that `is_wanted` takes.
template <class IsWanted>
std::string only_member(const Hdf5Name& name, const Handle& file, const std::string& what,
                        const IsWanted& is_wanted) {
  std::string found;
  for (const std::string& member : members_of(file)) {
    if (!is_wanted(member)) continue;
    if (!found.empty())
      fail(name, fmt::format("found several {}, such as {} and {}; expected FILE.h5:NAME", what,
                             found, member));
    found = member;
  }
  if (!found.empty()) return found;
  // What cannot be opened may have been meant.
  for (const std::string& member : members_of(file)) {
    const Handle object = hdf5::open_object(file, member);
    if (!object.is_open()) hdf5::fail_to_open(name, file, member, "dataset or group");
  }
  fail(name, "found no " + what + " at the root; expected one, or FILE.h5:NAME");
}

Handle open_matrix(const Hdf5Name& name, const Handle& file) {
  if (!name.object.empty()) {
    Handle group = open_matrix_group(file, name.object);
    if (!group.is_open()) hdf5::fail_to_open(name, file, name.object, "group");
    if (!members_of_matrix(group))
      fail(name, "found the group " + name.object +
                     " without data, indices and indptr; expected a sparse matrix");
    return group;
  }
  if (is_matrix(file, "/")) return open_matrix_group(file, "/");
  return open_matrix_group(
      file, only_member(name, file, "groups with data, indices and indptr",
                        [&](const std::string& member) { return is_matrix(file, member); }));
}

/// Rows and columns, as far as the group says them.
std::vector<std::int64_t> shape_of(const Hdf5Name& name, const Handle& group) {
  if (has(group, "shape")) {
    const NumberArray array = open_row_or_column(name, group, "shape");
    if (array.count != 2)
      fail(name, "found " + std::to_string(array.count) + " numbers in shape; expected 2");
    array.check_size("shape");
    std::vector<std::int64_t> shape(2);
    array.read(0, shape, "shape");
    return shape;
  }
  for (const char* const attribute : {"shape", "h5sparse_shape"})
    if (auto shape = numbers_of(name, group, attribute, 2); !shape.empty()) return shape;
  return {};
}

CsrSource::Layout layout_of(const Hdf5Name& name, const Handle& group) {
  for (const char* const member : {"format", "encoding-type", "h5sparse_format"}) {
    const std::string text = text_of(group, member);
    if (text.find("csc") != std::string::npos) return CsrSource::Layout::columns;
    if (!text.empty() && text.find("csr") == std::string::npos)
      fail(name, "found the format '" + text + "'; expected csr or csc: save A.tocsr()");
  }
  return CsrSource::Layout::rows;
}

/// A dataset that may be a vector.
struct VectorPlace {
  std::string member;
  bool is_by_columns = false;  // as MATLAB and Octave keep arrays of several dimensions
};

VectorPlace place_of_vector(const Handle& file, const std::string& member) {
  if (!octave_type_of(open_group(file, member)).empty()) return {member + "/value", true};
  const Handle dataset = open_dataset(file, member);
  return {member, dataset.is_open() && H5Aexists(dataset.id(), "MATLAB_class") > 0};
}

/// True if the member holds numbers in dimensions, or in one of them.
bool is_vector(const Handle& file, const std::string& member, bool has_one_dimension) {
  const Handle dataset = open_dataset(file, place_of_vector(file, member).member);
  if (!dataset.is_open()) return false;
  const std::vector<std::int64_t> sizes = hdf5::sizes_of(dataset);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.id());
  const bool is_numbers = kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_COMPOUND;
  return !sizes.empty() && is_numbers && (!has_one_dimension || hdf5::is_row_or_column(sizes)) &&
         text_of(dataset, "MATLAB_class") != "char";
}

std::string only_vector(const Hdf5Name& name, const Handle& file) {
  const auto is_flat = [&](const std::string& member) { return is_vector(file, member, true); };
  const bool has_flat = std::ranges::any_of(members_of(file), is_flat);
  return only_member(name, file, "datasets of one dimension",
                     [&](const std::string& member) { return is_vector(file, member, has_flat); });
}

/// Throws where a dataset holds no numbers.
void check_vector(const Hdf5Name& name, const VectorPlace& place, const Handle& dataset) {
  const std::vector<std::int64_t> sizes = hdf5::sizes_of(dataset);
  const std::string found = "found " + place.member;
  const std::string matlab_class = text_of(dataset, "MATLAB_class");
  for (const char* const none : {"char", "cell", "struct", "function_handle"})
    if (matlab_class == none)
      fail(name, std::string(found).append(" of MATLAB's class ") + none + "; expected numbers");
  if (is_set(dataset, "MATLAB_empty")) fail(name, found + ", which is empty; expected numbers");
  if (is_set(dataset, "timestepping") && sizes[0] > 1)
    fail(name, found + " at " + std::to_string(sizes[0]) + " times; expected one");
}

/// PETSc's complex builds write real and imaginary parts as a last dimension of two.
void take_pairs(const Hdf5Name& name, const VectorPlace& place, ShapedArray& array) {
  NumberType& type = array.numbers.type;
  if (array.shape.size() < 2 || array.shape.back() != 2 || type.kind != NumberType::Kind::real ||
      type.bytes != 8)
    fail(name, "found " + place.member +
                   " of a build of PETSc with complex numbers in another way than as pairs of "
                   "doubles; expected one with real numbers");
  array.shape.pop_back();
  array.numbers.count /= 2;
  type = {NumberType::Kind::complex, 16, type.is_big_endian};
}

ShapedArray open_vector(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  const VectorPlace place =
      place_of_vector(file, name.object.empty() ? only_vector(name, file) : name.object);
  const Handle dataset = open_dataset(file, place.member);
  if (dataset.is_open()) check_vector(name, place, dataset);
  ShapedArray array{.numbers = open_array(name, file, place.member),
                    .shape = hdf5::sizes_of(dataset),
                    .is_by_columns = place.is_by_columns};
  array.numbers.check_size("vector");
  if (is_set(dataset, "complex")) take_pairs(name, place, array);
  if (array.is_by_columns) std::ranges::reverse(array.shape);
  return array;
}

/// True if the name is of a matrix.
bool look_for_matrix(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  if (!name.object.empty()) {
    const Handle group = open_group(file, name.object);
    return group.is_open() && !(has(group, "value") && !octave_type_of(group).empty() &&
                                open_dataset(group, "value").is_open());
  }
  if (is_matrix(file, "/")) return true;
  return std::ranges::any_of(members_of(file),
                             [&](const std::string& member) { return is_matrix(file, member); });
}

/// Throws where the group says another shape than a square one of so many rows. MATLAB says the
/// rows beside the offsets of columns, PETSc the columns, Octave both.
void check_shape(const Hdf5Name& name, const Handle& group, const Members& members,
                 std::int64_t row_count) {
  std::vector<std::int64_t> shape = shape_of(name, group);
  for (const char* const attribute : {"MATLAB_sparse", "ncols"})
    if (const auto other = numbers_of(name, group, attribute, 1); !other.empty() && shape.empty())
      shape = members.is_by_columns ? std::vector{other[0], row_count}
                                    : std::vector{row_count, other[0]};
  if (has(group, "nr") && has(group, "nc"))
    for (const char* const member : {"nr", "nc"}) {
      const Handle dataset = open_dataset(group, member);
      std::int64_t size = -1;
      const Handle space(H5Dget_space(dataset.id()), H5Sclose);
      if (H5Sget_simple_extent_npoints(space.id()) != 1 ||
          H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &size) < 0)
        fail(name, std::string("found ") + member + " without a whole number; expected one");
      shape.push_back(size);
    }
  if (!shape.empty() && shape[0] != shape[1])
    fail(name, "found " + std::to_string(shape[0]) + " rows and " + std::to_string(shape[1]) +
                   " columns; expected a square matrix");
  if (row_count < 0 || (!shape.empty() && shape[0] != row_count))
    fail(name, fmt::format("found {} of length {}{}; expected one more than there are {}",
                           members.offsets, row_count + 1,
                           shape.empty() ? "" : fmt::format(" for {} rows", shape[0]),
                           members.is_by_columns ? "columns" : "rows"));
}

CsrSource open_csr(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  const Handle group = open_matrix(name, file);
  const Members members = *members_of_matrix(group);
  CsrSource source{
      .layout = members.is_by_columns ? CsrSource::Layout::columns : layout_of(name, group),
      .has_offsets = true};
  if (!has(group, members.values))
    fail(name, "found an empty matrix; expected at least one nonzero");  // MATLAB writes no values
  source.rows = open_row_or_column(name, group, members.offsets);
  source.columns = open_row_or_column(name, group, members.indices);
  source.values = open_row_or_column(name, group, members.values);
  source.row_count = source.rows.count - 1;
  source.nonzero_count = source.values.count;
  check_shape(name, group, members, source.row_count);
  source.remarks = remarks_on_complex(source.values);
  if (source.columns.count != source.nonzero_count)
    fail(name, fmt::format("found {} {} and {} values; expected as many", source.columns.count,
                           members.indices, source.nonzero_count));
  return source;
}

/// The first and the last number, which lead the library through what leads to them.
void touch(const NumberArray& array) {
  array.check_size("numbers");
  if (array.count == 0 || array.source->is_parallel()) return;
  std::array<std::byte, 8> part{};
  array.source->read(array.offset, part);
  array.source->read(array.offset + array.type.bytes * array.count - 8, part);
}

}  // namespace

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return "HDF5 " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(release);
}

bool holds_hdf5_matrix(const std::string& path) {
  try_in_child(Hdf5Name(path), [&] { look_for_matrix(path); });
  return look_for_matrix(path);
}

std::int64_t hdf5_vector_length(const std::string& path) {
  return open_hdf5_vector(path).array.numbers.count;
}

CsrSource open_hdf5_matrix(const std::string& path) {
  try_in_child(Hdf5Name(path), [&] {
    const CsrSource source = open_csr(path);
    for (const NumberArray* const array : {&source.rows, &source.columns, &source.values})
      touch(*array);
  });
  return open_csr(path);
}

VectorSource open_hdf5_vector(const std::string& path) {
  try_in_child(Hdf5Name(path), [&] { touch(open_vector(path).numbers); });
  VectorSource source{.array = open_vector(path), .may_be_flat = true};
  source.remarks = remarks_on_complex(source.array.numbers);
  return source;
}

}  // namespace weft::spmv
