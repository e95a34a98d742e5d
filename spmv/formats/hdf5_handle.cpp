#include "spmv/formats/hdf5_handle.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>

#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/byte_source.h"

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

Handle open_group(const Handle& parent, const std::string& member) {
  return {H5Gopen2(parent.id(), member.c_str(), H5P_DEFAULT), H5Gclose};
}
Handle open_dataset(const Handle& parent, const std::string& member) {
  return {H5Dopen2(parent.id(), member.c_str(), H5P_DEFAULT), H5Dclose};
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

}  // namespace weft::spmv::hdf5
