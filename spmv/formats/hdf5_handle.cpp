#include "spmv/formats/hdf5_handle.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "spmv/arrays/byte_source.h"
#include "spmv/formats/hdf5_file.h"

namespace weft::spmv::hdf5 {
namespace {

/// A child that has not ended by then never will.
constexpr unsigned most_seconds = 10;

[[noreturn]] void be_child(const std::function<void()>& look) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What others say about a crash is not for the user.
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing >= 0) dup2(nothing, STDERR_FILENO);
  alarm(most_seconds);
  try {
    look();
  } catch (...) {
    _exit(0);  // it fails in the same way here
  }
  _exit(0);
}

/// The innermost of the errors that the library remembers of its last call.
std::string last_error() {
  std::string text;
  const H5E_walk2_t take = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
    if (depth == 0 && error->desc) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "it does not say why" : text;
}

/// What helps against the error: for a file of a newer library, what that one can do.
std::string way_out(const std::string& error) {
  const bool is_newer = error.find("version") != std::string::npos ||
                        error.find("unknown") != std::string::npos ||
                        error.find("class") != std::string::npos;
  return is_newer ? "a newer library seems to have written it; expected a file of that library's "
                    "`h5repack OLD NEW`, or of h5py.File(NEW, 'w', libver=('earliest', 'v110'))"
                  : "expected a whole file";
}

/// Where a soft or an external link leads; empty for others.
std::string target_of(const Handle& parent, const std::string& link) {
  H5L_info_t info{};
  if (H5Lget_info(parent.id(), link.c_str(), &info, H5P_DEFAULT) < 0) return "";
  constexpr std::size_t most = 4096;
  if ((info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) || info.u.val_size > most)
    return "";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(parent.id(), link.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0)
    return "";
  if (info.type == H5L_TYPE_SOFT) return value.c_str();
  unsigned flags = 0;
  const char* file = nullptr;
  const char* object = nullptr;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &file, &object) < 0) return "";
  return std::string(file) + ":" + object;
}

/// What a file is that is none of HDF5, by its first bytes.
std::string other_kind_of(const FileBytes& file) {
  std::array<char, 24> begin{};
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(24, file.size()));
  FileBytes(file.name()).read(0, std::as_writable_bytes(std::span(begin).first(count)));
  const std::string_view text(begin.data(), count);
  constexpr const char* from_matlab =
      "; expected one of MATLAB's save('NEW.mat', 'A', '-v7.3') or Octave's save -hdf5, or, with "
      "Python, scipy.io.mmwrite('A.mtx', scipy.io.loadmat('OLD.mat')['A'])";
  if (text.starts_with("MATLAB 5.0 MAT-file"))
    return std::string("is a file of MATLAB before 7.3, which is not HDF5") + from_matlab;
  if (text.starts_with("# Created by Octave") || text.starts_with("Octave-1-"))
    return std::string("is a file of Octave that is not HDF5") + from_matlab;
  if (file.name().ends_with(".mat"))
    return std::string("is not a whole HDF5 file, as MATLAB writes from 7.3 on") + from_matlab;
  return "";
}

}  // namespace

void try_in_child(const Hdf5Name& name, const std::function<void()>& look) {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) be_child(look);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) fail(name, "is damaged, the HDF5 library crashes on it; expected a whole file");
}

void fail(const Hdf5Name& name, const std::string& complaint) {
  throw comm_thread::InputError(name.file + ": " + complaint);
}

void keep_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Handle access_without_locks() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

Handle open_object(const Handle& parent, const std::string& member, std::string* error) {
  const Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_fapl(access.id(), access_without_locks().id());
  Handle object(H5Oopen(parent.id(), member.c_str(), access.id()), H5Oclose);
  // The next call of the library forgets it.
  if (!object.is_open() && error != nullptr) *error = last_error();
  return object;
}

Handle open_file(const Hdf5Name& name) {
  keep_quiet();
  const FileBytes readable(name.file);  // says why it is not
  const Handle access = access_without_locks();
  Handle file(H5Fopen(name.file.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.is_open()) {
    const std::string error = last_error();
    const std::string other = H5Fis_hdf5(name.file.c_str()) > 0 ? "" : other_kind_of(readable);
    if (!other.empty()) fail(name, other);
    fail(name, "is not a whole HDF5 file that " + hdf5_version() + " opens (" + error +
                   "): " + way_out(error));
  }
  return file;
}

bool has(const Handle& group, const char* member) {
  return H5Lexists(group.id(), member, H5P_DEFAULT) > 0;
}

Handle open_group(const Handle& parent, const std::string& member) {
  Handle object = open_object(parent, member);
  return H5Iget_type(object.id()) == H5I_GROUP ? std::move(object) : Handle();
}
Handle open_dataset(const Handle& parent, const std::string& member) {
  Handle object = open_object(parent, member);
  return H5Iget_type(object.id()) == H5I_DATASET ? std::move(object) : Handle();
}

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

bool is_in_file(const Handle& object, const std::string& file) {
  const ssize_t size = H5Fget_name(object.id(), nullptr, 0);
  if (size <= 0) return false;
  std::string found(static_cast<std::size_t>(size) + 1, '\0');
  H5Fget_name(object.id(), found.data(), found.size());
  struct stat here{};
  struct stat there{};
  return stat(found.c_str(), &there) == 0 && stat(file.c_str(), &here) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

void fail_to_open(const Hdf5Name& name, const Handle& parent, const std::string& member,
                  const std::string& what) {
  std::string error;
  const Handle object = open_object(parent, member, &error);
  std::string path;
  for (std::size_t begin = 0; begin < member.size();) {
    const std::size_t end = std::min(member.find('/', begin), member.size());
    path = member.substr(0, end);
    begin = end + 1;
    if (path.empty() || path.ends_with('/')) continue;
    if (H5Lexists(parent.id(), path.c_str(), H5P_DEFAULT) <= 0)
      fail(name, "found no " + what + " " + member + "; expected one");
    if (object.is_open() || open_object(parent, path).is_open()) continue;
    const std::string target = target_of(parent, path);
    if (!target.empty())
      fail(name, "found " + path + " as a link to " + target + ", which cannot be opened (" +
                     error + "); expected a link to what is there");
  }
  if (!object.is_open())
    fail(name, "found " + member + ", which " + hdf5_version() + " cannot open (" + error +
                   "): " + way_out(error));
  const H5I_type_t type = H5Iget_type(object.id());
  fail(name, "found " + member + " as a " +
                 (type == H5I_GROUP     ? "group"
                  : type == H5I_DATASET ? "dataset"
                                        : "type") +
                 "; expected a " + what);
}

std::int64_t plain_offset(const Handle& dataset, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS || H5Pget_nfilters(creation.id()) != 0 ||
      H5Pget_external_count(creation.id()) != 0 || !is_in_file(dataset, path))
    return -1;
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF ||
      offset > static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max() / 2))
    return -1;
  return static_cast<std::int64_t>(offset);
}

}  // namespace weft::spmv::hdf5
