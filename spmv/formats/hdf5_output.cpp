#include "spmv/formats/hdf5_output.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/hdf5_handle.h"
#include "spmv/formats/shared_output.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using hdf5::Handle;

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
  return dataset.is_open() ? hdf5::plain_offset(dataset) : -1;
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
  hdf5::keep_quiet();
  const Handle access = hdf5::access_without_locks();
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
      hdf5::fail(
          name, "cannot be written by the HDF5 library; expected a writable file and a plain name");
  });
  communicator.broadcast(offsets, 0);
  return offsets;
}

}  // namespace

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
