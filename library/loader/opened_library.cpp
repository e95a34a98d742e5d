#include "library/loader/opened_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "library/loader/translated_calls.h"

namespace weft::loader {
namespace {

std::optional<OpenedLibrary> opened;

std::string file_of(const void* address) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || !found.dli_fname) return {};
  std::error_code no_such_file;
  const auto path = std::filesystem::canonical(found.dli_fname, no_such_file);
  return no_such_file ? found.dli_fname : path.string();
}

/// The whole description of a library of MPI, or empty.
std::string description_of(void* library) {
  using Describe = int(char*, int*);
  auto* const describe = reinterpret_cast<Describe*>(dlsym(library, "MPI_Get_library_version"));
  if (!describe) return {};
  // Libraries differ in how much they write at most.
  std::array<char, 65536> text{};
  int length = 0;
  describe(text.data(), &length);
  return text.data();
}

std::optional<Interface> interface_of(void* library, const std::string& file) {
  if (dlsym(library, "ompi_mpi_comm_world")) return Interface::open_mpi;
  if (std::filesystem::path(file).filename().string().starts_with("libmpi_abi"))
    return Interface::common;
  const std::string description = description_of(library);
  for (const std::string_view word : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (description.find(word) != std::string::npos) return Interface::mpich;
  return std::nullopt;
}

/// Returns what the library lacks.
std::string use_calls(Interface interface, void* library) {
  if (interface == Interface::open_mpi) return use_open_mpi_calls(library);
  if (interface == Interface::common) return use_common_calls(library);
  return use_mpich_calls(library);
}

OpenedLibrary use_library(void* library, const std::string& tried, const Choice& choice) {
  std::string file = file_of(dlsym(library, "MPI_Init_thread"));
  if (file.empty()) file = tried;
  const auto interface = interface_of(library, file);
  if (!interface)
    throw std::runtime_error(choice.reason + ", and in " + file +
                             " no MPI library that weft knows; expected MPICH, Open MPI, or one "
                             "with MPI's common binary interface");
  const std::string missing = use_calls(*interface, library);
  if (!missing.empty())
    throw std::runtime_error(choice.reason + ", and the MPI library " + file + " without " +
                             missing + "; expected one of MPI 3.1 or newer");
  return {.interface = *interface, .file = file, .reason = choice.reason};
}

OpenedLibrary open_chosen(const Choice& choice) {
  std::string fault;
  for (const std::string& file : choice.files) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) return use_library(library, file, choice);
    // Files that are not there are none that fail.
    std::error_code unreadable;
    if (fault.empty() && std::filesystem::exists(file, unreadable)) fault = dlerror();
  }
  if (!choice.is_needed || choice.files.empty())
    return {.interface = Interface::none, .file = {}, .reason = choice.reason};
  if (!fault.empty()) throw std::runtime_error(choice.reason + ", and " + fault);
  std::string names;
  for (const std::string& file : choice.files)
    if (file.find('/') == std::string::npos || choice.files.size() == 1)
      names += (names.empty() ? "" : " or ") + file;
  throw std::runtime_error(choice.reason + ", and no MPI library for it; expected " + names +
                           " beside the launcher, in Python's environment or where the loader "
                           "looks, or WEFT_MPI=PATH of one, or WEFT_MPI=none for processes that "
                           "know nothing of each other");
}

/// The program of an ancestor of this process that starts ranks, or empty.
std::string launcher_of_process() {
  constexpr std::string_view names[] = {"hydra_pmi_proxy", "mpiexec", "mpirun", "orted",
                                        "orterun",         "prted",   "prterun"};
  constexpr int most_ancestors = 5;  // with wrappers between
  pid_t process = getppid();
  for (int i = 0; i < most_ancestors && process > 1; ++i) {
    const std::string folder = "/proc/" + std::to_string(process);
    std::error_code unreadable;
    const auto program = std::filesystem::read_symlink(folder + "/exe", unreadable);
    const std::string base = program.filename().string();
    if (std::ranges::any_of(names, [&](auto name) { return base.starts_with(name); }))
      return program.string();
    std::ifstream status(folder + "/status");
    std::string word;
    while (status >> word && word != "PPid:") continue;
    if (!(status >> process)) return {};
  }
  return {};
}

}  // namespace

std::string name(Interface interface) {
  constexpr std::array names{"none", "mpich", "openmpi", "mpiabi"};
  return names[static_cast<std::size_t>(interface)];
}

const OpenedLibrary& open_library(const Surroundings& surroundings) {
  if (!opened) opened = open_chosen(choose_library(surroundings));
  return *opened;
}

Surroundings surroundings_of_process() {
  return {.variable = [](const char* name) -> const char* { return std::getenv(name); },
          .file_of_mpi4py = {},
          .file_of_program = {},
          .launcher = launcher_of_process(),
          .folders = {}};
}

MPI_ABI_Comm* communicator_from(std::uintptr_t handle) {
  const Interface interface = opened ? opened->interface : Interface::none;
  if (interface == Interface::none)
    throw std::runtime_error(
        "found a communicator, and weft has begun without an MPI library (" +
        (opened ? opened->reason : std::string("none has been opened")) +
        "); expected mpi4py imported before the first use of weft, or WEFT_MPI=mpich, openmpi or "
        "mpiabi");
  if (interface == Interface::open_mpi) return communicator_of_open_mpi(handle);
  if (interface == Interface::mpich) return communicator_of_mpich(handle);
  return reinterpret_cast<MPI_ABI_Comm*>(handle);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace weft::loader
