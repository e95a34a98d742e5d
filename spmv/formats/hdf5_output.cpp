#include "spmv/formats/hdf5_output.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/arrays/shared_output.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/hdf5_handle.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using hdf5::Handle;

struct NewDataset {
  std::string member;
  hid_t type;
  std::int64_t count;
  std::int64_t columns = 1;  // where there are several, a second dimension
};

/// Creates groups and datasets without times, so that the bytes depend on the contents alone.
Handle without_times(hid_t kind) {
  Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  return creation;
}

/// Gives `to` the attributes of `from`.
void copy_attributes(const Handle& from, const Handle& to) {
  const H5A_operator2_t copy = [](hid_t object, const char* name, const H5A_info_t*,
                                  void* target) -> herr_t {
    const Handle old(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(old.id()), H5Tclose);
    const Handle space(H5Aget_space(old.id()), H5Sclose);
    const Handle made(H5Acreate2(*static_cast<const hid_t*>(target), name, type.id(), space.id(),
                                 H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    const auto count =
        static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id())));
    if (count == 0) return 0;
    std::vector<std::byte> value(H5Tget_size(type.id()) * count);
    if (H5Aread(old.id(), type.id(), value.data()) < 0) return -1;
    const herr_t result = H5Awrite(made.id(), type.id(), value.data());
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, value.data());
    return result;
  };
  hid_t target = to.id();
  hsize_t at = 0;
  H5Aiterate2(from.id(), H5_INDEX_NAME, H5_ITER_INC, &at, copy, &target);
}

/// A new dataset whose numbers lie one after another, with room for all of them; it takes the
/// attributes of one that it replaces. Returns where they begin, below 0 where that failed.
std::int64_t create_dataset(const Handle& parent, const NewDataset& wanted,
                            const std::string& path) {
  const char* const member = wanted.member.c_str();
  Handle old;
  if (hdf5::has(parent, member)) {
    old = hdf5::open_dataset(parent, wanted.member);
    if (H5Ldelete(parent.id(), member, H5P_DEFAULT) < 0) return -1;
  }
  const std::array sizes{static_cast<hsize_t>(wanted.count), static_cast<hsize_t>(wanted.columns)};
  const Handle space(H5Screate_simple(wanted.columns > 1 ? 2 : 1, sizes.data(), nullptr), H5Sclose);
  const Handle creation = without_times(H5P_DATASET_CREATE);
  H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  const Handle dataset(H5Dcreate2(parent.id(), member, wanted.type, space.id(), H5P_DEFAULT,
                                  creation.id(), H5P_DEFAULT),
                       H5Dclose);
  if (!dataset.is_open()) return -1;
  if (old.is_open()) copy_attributes(old, dataset);
  return hdf5::plain_offset(dataset, path);
}

/// The words of a path in a file.
std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string word = path.substr(begin, end - begin);
    if (!word.empty() && word != ".") words.push_back(word);
    begin = end + 1;
  }
  return words;
}

/// The group of these names in the file `path`. Where one is missing, it is made if `is_new_made`,
/// else the result is not open. Throws InputError where one is no group, or is in another file.
Handle walk(const Hdf5Name& name, const Handle& file, const std::string& path,
            const std::vector<std::string>& words, bool is_new_made) {
  Handle group = hdf5::open_group(file, "/");
  for (const std::string& word : words) {
    if (hdf5::has(group, word.c_str())) {
      Handle inner = hdf5::open_group(group, word);
      if (!inner.is_open()) hdf5::fail_to_open(name, group, word, "group");
      if (!hdf5::is_in_file(inner, path))
        hdf5::fail(name,
                   "found " + word + " as a link to another file; expected a group of this one");
      group = std::move(inner);
    } else if (is_new_made) {
      const Handle creation = without_times(H5P_GROUP_CREATE);
      group = Handle(H5Gcreate2(group.id(), word.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                     H5Gclose);
    } else {
      return {};
    }
  }
  return group;
}

/// What is to be written into a file, and where.
struct Plan {
  std::vector<std::string> group;  // names that lead to it
  std::vector<NewDataset> datasets;  // without numbers at first
  std::int64_t rows = 0;  // of a matrix, which is the group; 0 for a vector
};

/// The name in the file where none is given.
const char* default_name(bool is_matrix) { return is_matrix ? "matrix" : "vector"; }

/// Throws InputError where the members of `file` are in the way of what `plan` says.
void check_members(const Hdf5Name& name, const Handle& file, const Plan& plan) {
  const bool is_vector = plan.rows == 0;
  const std::string wanted = name.object.empty() ? default_name(!is_vector) : name.object;
  std::vector<std::string> outer = plan.group;
  if (!is_vector && !outer.empty()) outer.pop_back();
  Handle group = walk(name, file, name.file, outer, false);
  if (!group.is_open()) return;
  if (is_vector) {
    const std::string& member = plan.datasets[0].member;
    if (hdf5::has(group, member.c_str()) && hdf5::open_group(group, member).is_open())
      hdf5::fail(name, "found the group " + wanted + "; expected a dataset, or a new name");
    return;
  }
  if (!plan.group.empty()) {
    // A dataset of this name will give way.
    if (!hdf5::open_group(group, plan.group.back()).is_open()) return;
    group = walk(name, file, name.file, plan.group, false);
  }
  for (const char* const other : {"ir", "jc", "type", "value", "i", "j", "a"})
    if (hdf5::has(group, other))
      hdf5::fail(name, "found the group " + wanted + " with " + other +
                           "; expected one with data, indices and indptr, or a new name");
}

bool has_attributes(const Handle& object) {
  hsize_t at = 0;
  const H5A_operator2_t stop = [](hid_t, const char*, const H5A_info_t*, void*) -> herr_t {
    return 1;
  };
  return H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, &at, stop, nullptr) > 0;
}

/// True if the file holds nothing but what was written to it without a name.
bool holds_output_only(const Handle& file, bool is_matrix) {
  const std::string name = default_name(is_matrix);
  if (hdf5::members_of(file) != std::vector<std::string>{name} || has_attributes(file))
    return false;
  if (is_matrix)
    return hdf5::members_of(hdf5::open_group(file, name)) ==
           std::vector<std::string>{"data", "indices", "indptr"};
  const Handle dataset = hdf5::open_dataset(file, name);
  return dataset.is_open() && !has_attributes(dataset);
}

/// True if what is written joins what is in the file already: always where there is a name, else
/// where anything would be lost. Throws InputError where the file is damaged.
bool joins(const Hdf5Name& name, bool is_matrix) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(name.file, none) ||
      std::filesystem::file_size(name.file, none) == 0)
    return false;
  if (!name.object.empty()) return true;
  hdf5::keep_quiet();
  if (H5Fis_hdf5(name.file.c_str()) <= 0) return false;
  const auto has_others = [&] { return !holds_output_only(hdf5::open_file(name), is_matrix); };
  hdf5::try_in_child(name, [&] { has_others(); });
  return has_others();
}

void set_text(const Handle& group, const char* attribute_name, const std::string& value) {
  if (H5Aexists(group.id(), attribute_name) > 0) H5Adelete(group.id(), attribute_name);
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text.id(), value.size());
  H5Tset_strpad(text.id(), H5T_STR_NULLPAD);
  const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(group.id(), attribute_name, text.id(), scalar.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  H5Awrite(attribute.id(), text.id(), value.data());
}

/// The attributes of a matrix; those that said something else of it before go.
void describe_matrix(const Handle& group, std::int64_t rows) {
  if (hdf5::has(group, "shape")) H5Ldelete(group.id(), "shape", H5P_DEFAULT);
  for (const char* const attribute : {"shape", "h5sparse_shape", "h5sparse_format"})
    if (H5Aexists(group.id(), attribute) > 0) H5Adelete(group.id(), attribute);
  const std::array<std::int64_t, 2> shape{rows, rows};
  const hsize_t two = 2;
  const Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
  const Handle attribute(
      H5Acreate2(group.id(), "shape", H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  H5Awrite(attribute.id(), H5T_NATIVE_INT64, shape.data());
  set_text(group, "format", "csr");
  if (H5Aexists(group.id(), "encoding-type") > 0) set_text(group, "encoding-type", "csr_matrix");
}

/// Makes the datasets in `temporary`, on rank 0: in a copy of the file where they join what is in
/// it, else in a new file. Returns where each begins; fewer where that failed.
std::vector<std::int64_t> make_file(const Hdf5Name& name, const std::string& temporary,
                                    const Plan& plan) {
  hdf5::keep_quiet();
  const Handle access = hdf5::access_without_locks();
  Handle file;
  if (joins(name, plan.rows > 0)) {
    std::error_code error;
    std::filesystem::copy_file(name.file, temporary,
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error)
      hdf5::fail(name, "cannot be copied, to add to it (" + error.message() +
                           "); expected room beside it");
    file = Handle(H5Fopen(temporary.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
  } else {
    file = Handle(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  }
  if (!file.is_open()) return {};
  if (plan.rows > 0 && !plan.group.empty()) {
    // A dataset of this name gives way to the matrix.
    const Handle outer =
        walk(name, file, temporary, {plan.group.begin(), plan.group.end() - 1}, true);
    const std::string& last = plan.group.back();
    if (outer.is_open() && hdf5::has(outer, last.c_str()) &&
        !hdf5::open_group(outer, last).is_open())
      H5Ldelete(outer.id(), last.c_str(), H5P_DEFAULT);
  }
  const Handle group = walk(name, file, temporary, plan.group, true);
  if (!group.is_open()) return {};
  std::vector<std::int64_t> offsets;
  for (const NewDataset& each : plan.datasets)
    offsets.push_back(create_dataset(group, each, temporary));
  if (plan.rows > 0) describe_matrix(group, plan.rows);
  if (H5Fflush(file.id(), H5F_SCOPE_GLOBAL) < 0) return {};
  return offsets;
}

/// Throws InputError where the file that is there is in the way.
void check_file(const Hdf5Name& name, const Plan& plan) {
  if (name.file.ends_with(".mat"))
    hdf5::fail(name, "found as an output; expected FILE.h5, which MATLAB's h5read reads");
  if (!joins(name, plan.rows > 0)) return;
  hdf5::try_in_child(name, [&] { check_members(name, hdf5::open_file(name), plan); });
  check_members(name, hdf5::open_file(name), plan);
}

Plan plan_of_vectors(const Hdf5Name& name, std::int64_t rows, std::int64_t columns) {
  Plan plan;
  plan.group = words_of(name.object.empty() ? default_name(false) : name.object);
  if (plan.group.empty()) hdf5::fail(name, "found the name /; expected the name of a dataset");
  plan.datasets = {{plan.group.back(), H5T_IEEE_F64LE, rows, columns}};
  plan.group.pop_back();
  return plan;
}

Plan plan_of_matrix(const Hdf5Name& name, std::int64_t rows, std::int64_t nonzeros, hid_t index) {
  return {words_of(name.object.empty() ? default_name(true) : name.object),
          {{"data", H5T_IEEE_F64LE, nonzeros},
           {"indices", index, nonzeros},
           {"indptr", index, rows + 1}},
          rows};
}

/// The same on all ranks.
std::vector<std::int64_t> collective_make_file(const Communicator& communicator,
                                               const Hdf5Name& name, SharedOutput& output,
                                               const Plan& plan) {
  std::vector<std::int64_t> offsets(plan.datasets.size());
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    check_file(name, plan);
    offsets = make_file(name, output.temporary_path(), plan);
    if (offsets.size() != plan.datasets.size() || std::ranges::min(offsets) < 0)
      hdf5::fail(
          name, "cannot be written by the HDF5 library; expected a writable file and a plain name");
  });
  communicator.broadcast(offsets, 0);
  return offsets;
}

}  // namespace

void check_hdf5_output(const std::string& path, bool is_matrix) {
  const Hdf5Name name(path);
  check_file(name,
             is_matrix ? plan_of_matrix(name, 1, 1, H5T_STD_I32LE) : plan_of_vectors(name, 1, 1));
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
      collective_make_file(communicator, name, output, plan_of_matrix(name, rows, nonzeros, index));
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

void collective_write_hdf5_columns(const Communicator& communicator, const RowPartition& partition,
                                   std::span<const double> own, std::int64_t count,
                                   const std::string& path) {
  const Hdf5Name name(path);
  SharedOutput output(communicator, name.file);
  const std::vector<std::int64_t> offsets = collective_make_file(
      communicator, name, output, plan_of_vectors(name, partition.row_count(), count));
  output.write(offsets[0] + 8 * count * partition.begin(communicator.rank()), std::as_bytes(own));
  output.collective_finish();
}

}  // namespace weft::spmv
