#include "spmv/formats/hdf5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/byte_source.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/hdf5_name.h"
#include "spmv/formats/shared_output.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

static_assert(std::endian::native == std::endian::little);

/// A chunk of a dataset, as it is inflated, may take so much memory.
constexpr std::uint64_t most_chunk_bytes = std::uint64_t{1} << 28;

/// An identifier of the library, closed at the end.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }

  bool is_open() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

[[noreturn]] void fail(const Hdf5Name& name, const std::string& complaint) {
  throw InputError(name.file + ": " + complaint);
}

/// The library prints what goes wrong unless it is told not to.
void keep_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// Files on parallel file systems cannot always be locked, and nobody writes to them meanwhile.
Handle access_without_locks() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

Handle open_file(const Hdf5Name& name) {
  keep_quiet();
  const FileBytes readable(name.file);  // says why it is not
  const Handle access = access_without_locks();
  Handle file(H5Fopen(name.file.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.is_open()) fail(name, "is not a whole HDF5 file; expected one");
  return file;
}

bool has(const Handle& group, const char* member) {
  return H5Lexists(group.id(), member, H5P_DEFAULT) > 0;
}

bool is_matrix(const Handle& group) {
  return group.is_open() && has(group, "data") && has(group, "indices") && has(group, "indptr");
}

Handle open_group(const Handle& parent, const std::string& member) {
  return {H5Gopen2(parent.id(), member.c_str(), H5P_DEFAULT), H5Gclose};
}
Handle open_dataset(const Handle& parent, const std::string& member) {
  return {H5Dopen2(parent.id(), member.c_str(), H5P_DEFAULT), H5Dclose};
}

/// Names of the members of the root, in order.
std::vector<std::string> members_of(const Handle& file) {
  std::vector<std::string> members;
  hsize_t at = 0;
  const H5L_iterate_t add = [](hid_t, const char* member, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(member);
    return 0;
  };
  H5Literate(file.id(), H5_INDEX_NAME, H5_ITER_INC, &at, add, &members);
  return members;
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
  if (found.empty()) fail(name, "found none of the " + what + "; expected one");
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

/// The number of values in a dataset that has one dimension, or is one row or column; -1 elsewhere.
std::int64_t count_of(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  if (rank < 1) return -1;
  std::int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    const hsize_t size = sizes[static_cast<std::size_t>(i)];
    if (size > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max() / 16)) return -1;
    if (size != 1 && count != 1) return -1;
    if (size != 1) count = static_cast<std::int64_t>(size);
  }
  return count;
}

/// The representation of the numbers where they stand in the file as NumberArray reads them.
bool is_plain(const Handle& type, NumberType& plain) {
  struct Known {
    hid_t type = -1;
    NumberType plain{};
  };
  using Kind = NumberType::Kind;
  const std::array known{
      Known{H5T_IEEE_F64LE, {Kind::real, 8, false}},
      Known{H5T_IEEE_F64BE, {Kind::real, 8, true}},
      Known{H5T_IEEE_F32LE, {Kind::real, 4, false}},
      Known{H5T_IEEE_F32BE, {Kind::real, 4, true}},
      Known{H5T_STD_I64LE, {Kind::integer, 8, false}},
      Known{H5T_STD_I64BE, {Kind::integer, 8, true}},
      Known{H5T_STD_I32LE, {Kind::integer, 4, false}},
      Known{H5T_STD_I32BE, {Kind::integer, 4, true}},
      Known{H5T_STD_U64LE, {Kind::natural, 8, false}},
      Known{H5T_STD_U32LE, {Kind::natural, 4, false}},
  };
  for (const auto& [id, as] : known)
    if (H5Tequal(type.id(), id) > 0) {
      plain = as;
      return true;
    }
  return false;
}

/// The values of a dataset as doubles or as whole numbers of 64 bits, through the library.
class DatasetBytes final : public ByteSource {
 public:
  DatasetBytes(const Hdf5Name& name, Handle file, Handle dataset, std::int64_t count, bool is_real)
      : name_(name.file),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        count_(count),
        type_(is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64) {}

  std::int64_t size() const override { return 8 * count_; }
  bool is_parallel() const override { return false; }
  const std::string& name() const override { return name_; }

  void read(std::int64_t offset, std::span<std::byte> piece) override {
    const auto first = static_cast<hsize_t>(offset / 8);
    const auto count = static_cast<hsize_t>(piece.size() / 8);
    if (count == 0) return;
    const Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    std::array<hsize_t, H5S_MAX_RANK> begin{};
    std::array<hsize_t, H5S_MAX_RANK> counts{};
    const int rank = H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
    bool is_set = false;
    for (int i = 0; i < rank; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool is_long = !is_set && (sizes[at] != 1 || i + 1 == rank);
      begin[at] = is_long ? first : 0;
      counts[at] = is_long ? count : 1;
      is_set = is_set || is_long;
    }
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const bool is_read =
        H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, counts.data(),
                            nullptr) >= 0 &&
        H5Dread(dataset_.id(), type_, memory.id(), space.id(), H5P_DEFAULT, piece.data()) >= 0;
    if (!is_read)
      throw InputError(name_ + ": ends in its numbers, or is damaged; expected a whole file");
  }

 private:
  std::string name_;
  Handle file_;
  Handle dataset_;
  std::int64_t count_;
  hid_t type_;
};

/// Where the numbers of a dataset lie as they are, how many bytes before them; -1 elsewhere.
std::int64_t plain_offset(const Handle& dataset) {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.id()) != 0)
    return -1;
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF ||
      offset > static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max() / 2))
    return -1;
  return static_cast<std::int64_t>(offset);
}

void check_chunk(const Hdf5Name& name, const Handle& dataset) {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Pget_chunk(creation.id(), H5S_MAX_RANK, sizes.data());
  std::uint64_t bytes = 8;
  for (int i = 0; i < rank && bytes <= most_chunk_bytes; ++i)
    bytes *= std::min<std::uint64_t>(sizes[static_cast<std::size_t>(i)], most_chunk_bytes + 1);
  if (bytes > most_chunk_bytes)
    fail(name, "found a chunk of more than " + std::to_string(most_chunk_bytes >> 20) +
                   " MiB; expected smaller ones");
}

/// A dataset of `parent`. `file`: what it is in.
NumberArray open_array(const Hdf5Name& name, const Handle& parent, const std::string& member) {
  Handle dataset = open_dataset(parent, member);
  if (!dataset.is_open()) fail(name, "found no dataset " + member + "; expected one");
  const std::int64_t count = count_of(dataset);
  if (count < 0)
    fail(name, "found " + member + " with more than one dimension, or none; expected one");
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT)
    fail(name, "found " + member + " of another type; expected real or whole numbers");
  NumberArray array{.source = nullptr, .offset = 0, .count = count, .type = {}};
  const std::int64_t offset = plain_offset(dataset);
  if (offset >= 0 && is_plain(type, array.type)) {
    array.source = std::make_shared<FileBytes>(name.file);
    array.offset = offset;
    return array;
  }
  check_chunk(name, dataset);
  const bool is_real = kind == H5T_FLOAT;
  array.type = {is_real ? NumberType::Kind::real : NumberType::Kind::integer, 8, false};
  array.source =
      std::make_shared<DatasetBytes>(name, open_file(name), std::move(dataset), count, is_real);
  return array;
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

void check_format(const Hdf5Name& name, const Handle& group) {
  for (const char* const member : {"format", "encoding-type", "h5sparse_format"}) {
    const std::string text = text_of(group, member);
    if (!text.empty() && text.find("csr") == std::string::npos)
      fail(name, "found the format '" + text + "'; expected csr: save A.tocsr()");
  }
}

bool is_vector(const Handle& file, const std::string& member) {
  const Handle dataset = open_dataset(file, member);
  return dataset.is_open() && count_of(dataset) >= 0;
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

/// A new dataset whose numbers lie one after another, with room for all of them.
std::int64_t create_dataset(const Handle& parent, const std::string& member, hid_t type,
                            std::int64_t count) {
  const auto size = static_cast<hsize_t>(count);
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.id(), false);
  const Handle dataset(H5Dcreate2(parent.id(), member.c_str(), type, space.id(), H5P_DEFAULT,
                                  creation.id(), H5P_DEFAULT),
                       H5Dclose);
  return dataset.is_open() ? plain_offset(dataset) : -1;
}

struct NewDataset {
  std::string member;
  hid_t type;
  std::int64_t count;
};

/// Makes the file on rank 0, and its datasets in `group`, which are still without numbers. Returns
/// where each begins, and whether all are there.
std::vector<std::int64_t> make_file(const std::string& temporary, const std::string& group,
                                    const std::vector<NewDataset>& datasets, std::int64_t rows) {
  keep_quiet();
  const Handle access = access_without_locks();
  const Handle file(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()),
                    H5Fclose);
  if (!file.is_open()) return {};
  Handle parent(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose);
  if (!group.empty()) {
    const Handle linking(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(linking.id(), 1);
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.id(), false);
    parent = Handle(H5Gcreate2(file.id(), group.c_str(), linking.id(), creation.id(), H5P_DEFAULT),
                    H5Gclose);
    if (!parent.is_open()) return {};
  }
  std::vector<std::int64_t> offsets;
  for (const NewDataset& each : datasets)
    offsets.push_back(create_dataset(parent, each.member, each.type, each.count));
  if (rows > 0) {
    const std::array<std::int64_t, 2> shape{rows, rows};
    const hsize_t two = 2;
    const Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
    const Handle attribute(
        H5Acreate2(parent.id(), "shape", H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    H5Awrite(attribute.id(), H5T_NATIVE_INT64, shape.data());
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text.id(), 3);
    H5Tset_strpad(text.id(), H5T_STR_NULLPAD);
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle format(
        H5Acreate2(parent.id(), "format", text.id(), scalar.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    H5Awrite(format.id(), text.id(), "csr");
  }
  if (H5Fflush(file.id(), H5F_SCOPE_GLOBAL) < 0) return {};
  return offsets;
}

/// The same on all ranks.
std::vector<std::int64_t> collective_make_file(const Communicator& communicator,
                                               const Hdf5Name& name, SharedOutput& output,
                                               const std::string& group,
                                               const std::vector<NewDataset>& datasets,
                                               std::int64_t rows) {
  std::vector<std::int64_t> offsets(datasets.size());
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    offsets = make_file(output.temporary_path(), group, datasets, rows);
    if (offsets.size() != datasets.size() || std::ranges::min(offsets) < 0)
      fail(name,
           "cannot be written by the HDF5 library; expected a writable file and a plain name");
  });
  communicator.broadcast(offsets, 0);
  return offsets;
}

void write_items(SharedOutput& output, std::int64_t offset, std::int64_t count,
                 const std::function<void(std::int64_t, std::vector<std::byte>&)>& append) {
  in_pieces(count, append, [&](std::span<const std::byte> bytes) {
    output.write(offset, bytes);
    offset += std::ssize(bytes);
  });
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
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  if (!name.object.empty()) return open_group(file, name.object).is_open();
  if (is_matrix(open_group(file, "/"))) return true;
  return std::ranges::any_of(members_of(file), [&](const std::string& member) {
    return is_matrix(open_group(file, member));
  });
}

std::int64_t hdf5_vector_length(const std::string& path) { return open_vector(path).count; }

CsrSource open_hdf5_matrix(const std::string& path) {
  const Hdf5Name name(path);
  const Handle file = open_file(name);
  const Handle group = open_matrix(name, file);
  check_format(name, group);
  CsrSource source{.has_offsets = true};
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

std::vector<double> collective_read_hdf5_vector(const Communicator& communicator,
                                                const RowPartition& partition,
                                                const std::string& path) {
  std::vector<double> own(static_cast<std::size_t>(partition.size(communicator.rank())));
  comm_thread::collective_attempt(communicator, [&] {
    const NumberArray values = open_vector(path);
    if (values.count != partition.row_count())
      throw InputError(path + ": found a vector of length " + std::to_string(values.count) +
                       "; expected length " + std::to_string(partition.row_count()));
    values.read(partition.begin(communicator.rank()), own, "vector");
  });
  return own;
}

void collective_write_hdf5_matrix(const Communicator& communicator, const DistributedMatrix& matrix,
                                  const std::string& path) {
  const Hdf5Name name(path);
  const CsrPart part = CsrPart::collective_of(communicator, matrix);
  const std::int64_t rows = matrix.partition.row_count();
  const std::int64_t nonzeros = matrix.global_nonzero_count;
  const bool is_wide = std::max(rows, nonzeros) > std::numeric_limits<std::int32_t>::max();
  const hid_t index = is_wide ? H5T_STD_I64LE : H5T_STD_I32LE;
  SharedOutput output(communicator, name.file);
  const std::vector<std::int64_t> offsets =
      collective_make_file(communicator, name, output, name.object.empty() ? "matrix" : name.object,
                           {{"data", H5T_IEEE_F64LE, nonzeros},
                            {"indices", index, nonzeros},
                            {"indptr", index, rows + 1}},
                           rows);
  const int bytes = is_wide ? 8 : 4;
  const auto append_index = [&](std::int64_t number, std::vector<std::byte>& to) {
    if (is_wide)
      append_bytes(to, number, false);
    else
      append_bytes(to, static_cast<std::int32_t>(number), false);
  };
  write_items(output, offsets[0] + part.first_nonzero * 8, part.nonzero_count(),
              [&](std::int64_t k, auto& to) { append_bytes(to, part.value(k), false); });
  write_items(output, offsets[1] + part.first_nonzero * bytes, part.nonzero_count(),
              [&](std::int64_t k, auto& to) { append_index(part.column(k), to); });
  const bool is_last = matrix.first_row() + part.row_count() == rows && part.row_count() > 0;
  write_items(output, offsets[2] + matrix.first_row() * bytes, part.row_count() + (is_last ? 1 : 0),
              [&](std::int64_t row, auto& to) { append_index(part.row_offset(row), to); });
  output.collective_finish();
}

void collective_write_hdf5_vector(const Communicator& communicator, const RowPartition& partition,
                                  std::span<const double> own, const std::string& path) {
  const Hdf5Name name(path);
  const std::string object = name.object.empty() ? "vector" : name.object;
  const std::size_t slash = object.find_last_of('/');
  const bool is_nested = slash != std::string::npos && slash > 0;
  SharedOutput output(communicator, name.file);
  const std::vector<std::int64_t> offsets = collective_make_file(
      communicator, name, output, is_nested ? object.substr(0, slash) : "",
      {{is_nested ? object.substr(slash + 1) : object, H5T_IEEE_F64LE, partition.row_count()}}, 0);
  output.write(offsets[0] + 8 * partition.begin(communicator.rank()), std::as_bytes(own));
  output.collective_finish();
}

}  // namespace weft::spmv
