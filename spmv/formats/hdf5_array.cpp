#include "spmv/formats/hdf5_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "spmv/arrays/byte_source.h"

namespace weft::spmv::hdf5 {
namespace {

using comm_thread::InputError;

static_assert(std::endian::native == std::endian::little);

/// A chunk of a dataset, as it is inflated, may take so much memory.
constexpr std::uint64_t most_chunk_bytes = std::uint64_t{1} << 28;

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

/// The values of a dataset as doubles, pairs of doubles or whole numbers of 64 bits, through the
/// library.
class DatasetBytes final : public ByteSource {
 public:
  DatasetBytes(const Hdf5Name& name, Handle file, Handle dataset, std::int64_t count, Handle type)
      : name_(name.file),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        count_(count),
        type_(std::move(type)),
        number_bytes_(static_cast<std::int64_t>(H5Tget_size(type_.id()))) {}

  std::int64_t size() const override { return number_bytes_ * count_; }
  bool is_parallel() const override { return false; }
  const std::string& name() const override { return name_; }

  void read(std::int64_t offset, std::span<std::byte> piece) override {
    const std::vector<std::int64_t> sizes = sizes_of(dataset_);
    for (std::int64_t at = offset; !piece.empty();) {
      const std::int64_t number = at / number_bytes_;
      const std::int64_t before = at % number_bytes_;
      if (before == 0 && std::ssize(piece) >= number_bytes_) {
        const std::int64_t bytes = number_bytes_ * read_block(sizes, number, piece);
        at += bytes;
        piece = piece.subspan(static_cast<std::size_t>(bytes));
        continue;
      }
      std::array<std::byte, 16> whole{};  // of which only a part is wanted
      read_block(sizes, number, std::span(whole).first(static_cast<std::size_t>(number_bytes_)));
      const auto part = static_cast<std::size_t>(
          std::min(number_bytes_ - before, static_cast<std::int64_t>(piece.size())));
      std::copy_n(whole.begin() + before, part, piece.begin());
      at += static_cast<std::int64_t>(part);
      piece = piece.subspan(part);
    }
  }

 private:
  /// Reads the largest block of numbers that begins with number `at` and fits into `piece`: as much
  /// as there is of the outermost dimension at whose border `at` is. Returns how many they are.
  std::int64_t read_block(const std::vector<std::int64_t>& sizes, std::int64_t at,
                          std::span<std::byte> piece) {
    const std::int64_t most = std::ssize(piece) / number_bytes_;
    std::vector<hsize_t> begin(sizes.size());
    std::vector<hsize_t> counts(sizes.size(), 1);
    std::int64_t block = 1;
    std::int64_t stride = 1;
    bool is_open = true;
    for (std::size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) {
      const std::int64_t place = at / stride % sizes[d];
      begin[d] = static_cast<hsize_t>(place);
      if (!is_open) continue;
      const std::int64_t count = std::min(sizes[d] - place, most / stride);
      if (count > 0) {
        counts[d] = static_cast<hsize_t>(count);
        block = count * stride;
      }
      is_open = count == sizes[d];
    }
    const Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    const auto size = static_cast<hsize_t>(block);
    const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const bool is_read =
        H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, counts.data(),
                            nullptr) >= 0 &&
        H5Dread(dataset_.id(), type_.id(), memory.id(), space.id(), H5P_DEFAULT, piece.data()) >= 0;
    if (!is_read)
      throw InputError(name_ + ": ends in its numbers, or is damaged; expected a whole file");
    return block;
  }

  std::string name_;
  Handle file_;
  Handle dataset_;
  std::int64_t count_;
  Handle type_;
  std::int64_t number_bytes_;
};

/// In memory, two doubles for each pair of a compound type: the names are those of h5py, and those
/// of MATLAB and Octave. Not open where it is no such type.
Handle pair_of(const Handle& type) {
  struct Names {
    const char* real;
    const char* imaginary;
  };
  if (H5Tget_class(type.id()) != H5T_COMPOUND || H5Tget_nmembers(type.id()) != 2) return {};
  for (const auto& [real, imaginary] :
       {Names{"r", "i"}, Names{"real", "imag"}, Names{"re", "im"}}) {
    const int first = H5Tget_member_index(type.id(), real);
    const int second = H5Tget_member_index(type.id(), imaginary);
    if (first < 0 || second < 0) continue;
    for (const int member : {first, second}) {
      const H5T_class_t kind = H5Tget_member_class(type.id(), static_cast<unsigned>(member));
      if (kind != H5T_FLOAT && kind != H5T_INTEGER) return {};
    }
    Handle pair(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)), H5Tclose);
    H5Tinsert(pair.id(), real, 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair.id(), imaginary, sizeof(double), H5T_NATIVE_DOUBLE);
    return pair;
  }
  return {};
}

/// The library reads zeros where a file behind such a dataset is missing or too short.
void check_storage(const Hdf5Name& name, const Handle& dataset, const std::string& member) {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  const bool is_virtual = H5Pget_layout(creation.id()) == H5D_VIRTUAL;
  if (!is_virtual && H5Pget_external_count(creation.id()) == 0) return;
  fail(name, "found " + member +
                 (is_virtual ? " as a virtual dataset, whose numbers are in others"
                             : " with its numbers in another file (external storage)") +
                 "; expected numbers in the file itself, as h5py writes with file['new'] = "
                 "file['" +
                 member + "'][...]");
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

/// Throws where the numbers went through a filter that the library does not have, such as h5py's
/// lzf.
void check_filters(const Hdf5Name& name, const Handle& dataset) {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  const int filters = H5Pget_nfilters(creation.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t parameters = 0;
    std::array<char, 64> words{};
    unsigned how = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &parameters, nullptr,
                       words.size() - 1, words.data(), &how);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    fail(name, std::string("found numbers behind the filter '") + words.data() + "' (number " +
                   std::to_string(filter) +
                   "), which the library of HDF5 does not have; expected gzip, or none");
  }
}

}  // namespace

std::vector<std::int64_t> sizes_of(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  std::vector<std::int64_t> found;
  hsize_t count = 1;
  for (int i = 0; i < rank; ++i) {
    const hsize_t size = sizes[static_cast<std::size_t>(i)];
    constexpr auto most = static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max() / 16);
    if (size > most || (size > 0 && count > most / size)) return {};
    count *= std::max<hsize_t>(size, 1);
    found.push_back(static_cast<std::int64_t>(size));
  }
  return found;
}

bool is_row_or_column(const std::vector<std::int64_t>& sizes) {
  return std::ranges::count_if(sizes, [](std::int64_t size) { return size != 1; }) <= 1;
}

namespace {

NumberType type_of_eight_bytes(H5T_class_t kind, bool is_natural) {
  using Kind = NumberType::Kind;
  return {kind == H5T_FLOAT ? Kind::real : is_natural ? Kind::natural : Kind::integer, 8, false};
}

}  // namespace

NumberArray open_array(const Hdf5Name& name, const Handle& parent, const std::string& member) {
  Handle dataset = open_dataset(parent, member);
  if (!dataset.is_open()) fail_to_open(name, parent, member, "dataset");
  const std::vector<std::int64_t> sizes = sizes_of(dataset);
  if (sizes.empty()) fail(name, "found " + member + " without a dimension; expected one");
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.id());
  Handle as_read = pair_of(type);
  if (kind == H5T_COMPOUND && !as_read.is_open())
    fail(name, "found " + member +
                   " of records, or of complex numbers in another way than as pairs r, i or real, "
                   "imag; expected real or whole numbers: save the real part, as A.real");
  if (!as_read.is_open() && kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM)
    fail(name, "found " + member + " of another type; expected real or whole numbers");
  check_storage(name, dataset, member);
  NumberArray array{.source = nullptr, .offset = 0, .count = count, .type = {}};
  const std::int64_t offset = plain_offset(dataset, name.file);
  if (offset >= 0 && is_plain(type, array.type)) {
    array.source = std::make_shared<FileBytes>(name.file);
    array.offset = offset;
    return array;
  }
  check_chunk(name, dataset);
  check_filters(name, dataset);
  const bool is_natural = kind == H5T_INTEGER && H5Tget_sign(type.id()) == H5T_SGN_NONE;
  array.type = type_of_eight_bytes(kind, is_natural);
  if (as_read.is_open())
    array.type = {NumberType::Kind::complex, 2 * sizeof(double), false};
  else
    as_read = Handle(H5Tcopy(kind == H5T_FLOAT ? H5T_NATIVE_DOUBLE
                             : is_natural      ? H5T_NATIVE_UINT64
                                               : H5T_NATIVE_INT64),
                     H5Tclose);
  array.source = std::make_shared<DatasetBytes>(name, open_file(name), std::move(dataset), count,
                                                std::move(as_read));
  return array;
}

NumberArray open_row_or_column(const Hdf5Name& name, const Handle& parent,
                               const std::string& member) {
  const Handle dataset = open_dataset(parent, member);
  if (dataset.is_open() && !is_row_or_column(sizes_of(dataset)))
    fail(name, "found " + member + " with more than one dimension; expected one");
  return open_array(name, parent, member);
}

}  // namespace weft::spmv::hdf5
