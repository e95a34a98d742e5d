#include "comm_thread/mpi/library_check.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <type_traits>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::comm_thread {
namespace {

/// What handles are: they differ between libraries, though the names of functions do not.
enum class Handles { mpich, open_mpi, common };

std::string name(Handles handles) {
  constexpr std::array names{"MPICH", "Open MPI", "MPI's common binary interface"};
  return names[static_cast<std::size_t>(handles)];
}

/// MPI 5.0, section 20.3.6: the value of MPI_COMM_WORLD in the common binary interface.
constexpr std::uintptr_t common_world = 0x101;

/// True where the functions of MPI are pointers: they are set when a library is opened, and take
/// the handles of every library that the loader knows.
constexpr bool is_opened_at_run_time = std::is_pointer_v<decltype(MPI_Init_thread)>;

template <class Communicator = MPI_Comm>
Handles compiled_handles() {
  if constexpr (std::is_pointer_v<Communicator>) {
    const Communicator world = MPI_COMM_WORLD;
    return reinterpret_cast<std::uintptr_t>(world) == common_world ? Handles::common
                                                                   : Handles::open_mpi;
  }
  return Handles::mpich;
}

std::string file_of(const void* address) {
  Dl_info found{};
  if (!address || dladdr(address, &found) == 0 || !found.dli_fname) return {};
  std::error_code no_such_file;
  const auto path = std::filesystem::canonical(found.dli_fname, no_such_file);
  return no_such_file ? found.dli_fname : path.string();
}

/// The function `name` of the library in `file`, which is loaded, or of those that it links.
template <class Function>
Function* function_of(const std::string& file, const char* name) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  dlclose(library);
  return found;
}

/// Tools put functions of their own in front of those without the P.
using IsTrue = int(int*);
using Describe = int(char*, int*);

bool is_true(IsTrue* function) {
  int answer = 0;
  return function && function(&answer) == MPI_SUCCESS && answer != 0;
}

std::string description_by(Describe* function) {
  if (!function) return {};
  // Libraries differ in how much they write at most.
  std::array<char, 65536> text{};
  int length = 0;
  function(text.data(), &length);
  return first_line_of_version(text.data());
}

/// Files of this process, each of which may be an MPI library or link one.
std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* found) {
        if (info->dlpi_name && *info->dlpi_name)
          static_cast<std::vector<std::string>*>(found)->emplace_back(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

}  // namespace

std::string LoadedLibrary::text() const {
  return "'" + version + "' (" + (file.empty() ? "file not known" : file) + ")";
}

LoadedLibrary library_in_use() {
  return {MpiSession::library_version(),
          file_of(reinterpret_cast<const void*>(+PMPI_Get_library_version))};
}

std::string fault_of_handles() {
  if (is_opened_at_run_time) return {};
  const LoadedLibrary used = library_in_use();
  int major = -1;
  int minor = -1;
  auto* const common = function_of<int(int*, int*)>(used.file, "MPI_Abi_get_version");
  if (common) common(&major, &minor);
  Handles found = Handles::mpich;
  if (major > 0)
    found = Handles::common;
  else if (used.version.starts_with("Open MPI"))
    found = Handles::open_mpi;
  if (found == compiled_handles()) return {};
  return "found the MPI library " + used.text() + ", whose communicators are those of " +
         name(found) + "; expected one with those of " + name(compiled_handles()) +
         ", which weft was built with";
}

std::vector<LoadedLibrary> other_libraries_at_work() {
  const LoadedLibrary used = library_in_use();
  std::vector<LoadedLibrary> others;
  std::vector<std::string> seen;
  bool has_seen_used = false;
  for (const std::string& loaded : loaded_files()) {
    auto* const is_initialised = function_of<IsTrue>(loaded, "PMPI_Initialized");
    const std::string file = file_of(reinterpret_cast<const void*>(is_initialised));
    if (file.empty() || std::ranges::find(seen, file) != seen.end()) continue;
    seen.push_back(file);
    if (file == used.file) {
      has_seen_used = true;
      continue;
    }
    if (is_true(is_initialised) && !is_true(function_of<IsTrue>(loaded, "PMPI_Finalized")))
      others.push_back(
          {description_by(function_of<Describe>(loaded, "PMPI_Get_library_version")), file});
  }
  // In a program with its MPI library inside, that one has no file of its own.
  return has_seen_used ? others : std::vector<LoadedLibrary>{};
}

std::string fault_of_other_libraries() {
  const auto others = other_libraries_at_work();
  if (others.empty()) return {};
  return "found two MPI libraries at work: weft calls " + library_in_use().text() +
         ", another part of the program " + others.front().text() +
         "; expected one: build weft with that of the program (-DMPI_C_COMPILER=...)";
}

}  // namespace weft::comm_thread
