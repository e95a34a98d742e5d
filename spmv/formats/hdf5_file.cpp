#include "spmv/formats/hdf5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/hdf5_array.h"
#include "spmv/formats/hdf5_handle.h"
#include "spmv/formats/hdf5_name.h"
#include "spmv/formats/vector_reader.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;
using hdf5::fail;
using hdf5::Handle;
using hdf5::has;
using hdf5::members_of;
using hdf5::open_array;
using hdf5::open_dataset;
using hdf5::open_file;
using hdf5::open_group;
using hdf5::try_in_child;

bool is_matrix(const Handle& group) {
  return group.is_open() && has(group, "data") && has(group, "indices") && has(group, "indptr");
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
  if (found.empty()) fail(name, "found no " + what + " at the root; expected one, or FILE.h5:NAME");
  return found;
}

Handle open_matrix(const Hdf5Name& name, const Handle& file) {
  if (!name.object.empty()) {
    Handle group = open_group(file, name.object);
    if (!is_matrix(group))
      fail(name, "found no group " + name.object + " with data, indices and indptr; expected one");
    return group;
  }
  Handle root = open_group(file, "/");
  if (is_matrix(root)) return root;
  return open_group(file, only_member(name, file, "groups with data, indices and indptr",
                                      [&](const std::string& member) {
                                        return is_matrix(open_group(file, member));
                                      }));
}

/// Two numbers of the dataset or the attribute "shape"; empty where there is none.
std::vector<std::int64_t> shape_of(const Hdf5Name& name, const Handle& group) {
  if (has(group, "shape")) {
    const NumberArray array = open_array(name, group, "shape");
    if (array.count != 2)
      fail(name, "found " + std::to_string(array.count) + " numbers in shape; expected 2");
    array.check_size("shape");
    std::vector<std::int64_t> shape(2);
    array.read(0, shape, "shape");
    return shape;
  }
  if (H5Aexists(group.id(), "shape") <= 0) return {};
  const Handle attribute(H5Aopen(group.id(), "shape", H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  std::vector<std::int64_t> shape(2);
  if (H5Sget_simple_extent_npoints(space.id()) != 2 || H5Tget_class(type.id()) != H5T_INTEGER ||
      H5Aread(attribute.id(), H5T_NATIVE_INT64, shape.data()) < 0)
    fail(name, "found the attribute shape without two whole numbers; expected rows and columns");
  return shape;
}

/// The text of an attribute; empty where there is none.
std::string text_of(const Handle& group, const char* member) {
  if (H5Aexists(group.id(), member) <= 0) return {};
  const Handle attribute(H5Aopen(group.id(), member, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Sget_simple_extent_npoints(space.id()) != 1)
    return {};
  if (H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    std::string copy;
    const Handle memory(H5Tcopy(type.id()), H5Tclose);
    if (H5Aread(attribute.id(), memory.id(), static_cast<void*>(&text)) >= 0 && text) copy = text;
    if (text) H5free_memory(text);
    return copy;
  }
  constexpr std::size_t most = 256;
  const std::size_t size = H5Tget_size(type.id());
  if (size > most) return {};
  std::string text(size, '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
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

bool is_vector(const Handle& file, const std::string& member) {
  const Handle dataset = open_dataset(file, member);
  return dataset.is_open() && hdf5::count_of(dataset) >= 0;
}

NumberArray open_vector(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  const std::string member =
      name.object.empty()
          ? only_member(name, file, "datasets of one dimension",
                        [&](const std::string& each) { return is_vector(file, each); })
          : name.object;
  NumberArray array = open_array(name, file, member);
  array.check_size("vector");
  return array;
}

/// True if the name is of a matrix.
bool look_for_matrix(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  if (!name.object.empty()) return open_group(file, name.object).is_open();
  if (is_matrix(open_group(file, "/"))) return true;
  return std::ranges::any_of(members_of(file), [&](const std::string& member) {
    return is_matrix(open_group(file, member));
  });
}

CsrSource open_csr(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  const Handle group = open_matrix(name, file);
  CsrSource source{.layout = layout_of(name, group), .has_offsets = true};
  source.rows = open_array(name, group, "indptr");
  source.columns = open_array(name, group, "indices");
  source.values = open_array(name, group, "data");
  source.row_count = source.rows.count - 1;
  source.nonzero_count = source.values.count;
  const std::vector<std::int64_t> shape = shape_of(name, group);
  if (!shape.empty() && shape[0] != shape[1])
    fail(name, "found " + std::to_string(shape[0]) + " rows and " + std::to_string(shape[1]) +
                   " columns; expected a square matrix");
  if (source.row_count < 0 || (!shape.empty() && shape[0] != source.row_count))
    fail(name, "found indptr of length " + std::to_string(source.rows.count) +
                   (shape.empty() ? std::string() : " for " + std::to_string(shape[0]) + " rows") +
                   "; expected one more than there are rows");
  if (source.columns.count != source.nonzero_count)
    fail(name, "found " + std::to_string(source.columns.count) + " indices and " +
                   std::to_string(source.nonzero_count) + " values; expected as many");
  return source;
}

/// The first and the last number, which lead the library through what leads to them.
void touch(const NumberArray& array) {
  array.check_size("numbers");
  if (array.count == 0 || array.source->is_parallel()) return;
  std::array<std::byte, 8> number{};
  array.source->read(array.offset, number);
  array.source->read(array.offset + 8 * (array.count - 1), number);
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
  try_in_child(Hdf5Name(path), [&] { touch(open_vector(path)); });
  return open_vector(path).count;
}

CsrSource open_hdf5_matrix(const std::string& path) {
  try_in_child(Hdf5Name(path), [&] {
    const CsrSource source = open_csr(path);
    for (const NumberArray* const array : {&source.rows, &source.columns, &source.values})
      touch(*array);
  });
  return open_csr(path);
}

std::vector<double> collective_read_hdf5_vector(const Communicator& communicator,
                                                const RowPartition& partition,
                                                const std::string& path) {
  return collective_read_vector(communicator, partition, path, [&] {
    try_in_child(Hdf5Name(path), [&] { touch(open_vector(path)); });
    return open_vector(path);
  });
}

}  // namespace weft::spmv
