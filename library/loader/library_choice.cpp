#include "library/loader/library_choice.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

namespace weft::loader {
namespace {

constexpr std::string_view mpich_names[] = {"libmpi.so.12", "libmpich.so.12"};
constexpr std::string_view open_mpi_names[] = {"libmpi.so.40"};
constexpr std::string_view common_names[] = {"libmpi_abi.so.1"};
/// Launchers of MPICH start programs of both its libraries. Those of mpi4py's wheels come first.
constexpr std::string_view launched_by_mpich[] = {"libmpi.so.12", "libmpich.so.12",
                                                  "libmpi_abi.so.1"};
constexpr std::string_view all_names[] = {"libmpi.so.12", "libmpi.so.40", "libmpich.so.12",
                                          "libmpi_abi.so.1"};
constexpr std::string_view all_by_pmix[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12",
                                            "libmpi_abi.so.1"};

/// A variable by which a launcher tells a process the number of all, or its rank.
struct Word {
  const char* name;
  bool is_rank;
  std::span<const std::string_view> libraries;
};

/// Those that name a library's own launcher come first. A shell of Slurm that is no step of several
/// has launched nothing.
constexpr Word words[] = {
    {"OMPI_COMM_WORLD_SIZE", false, open_mpi_names},
    {"OMPI_COMM_WORLD_RANK", true, open_mpi_names},
    {"PMI_SIZE", false, launched_by_mpich},
    {"PMI_RANK", true, launched_by_mpich},
    {"MV2_COMM_WORLD_SIZE", false, mpich_names},
    {"PMIX_RANK", true, all_by_pmix},
    {"SLURM_STEP_NUM_TASKS", false, all_names},
    {"PALS_RANKID", true, all_names},
    {"FLUX_JOB_SIZE", false, all_names},
    {"FLUX_TASK_RANK", true, all_names},
    {"JSM_NAMESPACE_SIZE", false, all_names},
    {"JSM_NAMESPACE_RANK", true, all_names},
};

/// Batch systems set theirs for a process alone, too.
bool is_of_library(const Word& word) { return word.libraries.size() < std::size(all_names); }

std::optional<long> number(const char* text) {
  if (!text || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

/// True where the variable tells of other processes.
bool tells_of_others(const Word& word, long value) { return value > (word.is_rank ? 0 : 1); }

/// The libraries in the folders, and then wherever the loader finds them.
std::vector<std::string> files_of(std::span<const std::string_view> names,
                                  const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  for (const std::string& folder : folders)
    for (const std::string_view name : names)
      files.push_back((std::filesystem::path(folder) / name).string());
  files.insert(files.end(), names.begin(), names.end());
  return files;
}

Choice choice_of_word(const std::string& word, const std::vector<std::string>& folders) {
  Choice choice{.files = {}, .reason = "found WEFT_MPI=" + word, .is_needed = true};
  if (word == "none") return choice;
  if (word == "mpich")
    choice.files = files_of(mpich_names, folders);
  else if (word == "openmpi")
    choice.files = files_of(open_mpi_names, folders);
  else if (word == "mpiabi")
    choice.files = files_of(common_names, folders);
  else if (word.find('/') != std::string::npos)
    choice.files = {word};
  else
    throw std::invalid_argument(
        choice.reason + "; expected mpich, openmpi, mpiabi, none, or the path of an MPI library");
  return choice;
}

/// The folder of libraries beside that of the launcher comes first.
Choice choice_of_launcher(const Surroundings& surroundings) {
  const Word* chosen = nullptr;
  std::string reason;
  for (const Word& word : words) {
    const auto value = number(surroundings.variable(word.name));
    if (!value) continue;
    const bool has_others = tells_of_others(word, *value);
    if (!chosen && (is_of_library(word) || has_others)) chosen = &word;
    if (!has_others || !reason.empty()) continue;
    reason = std::string("found ") + word.name + "=" + std::to_string(*value) +
             " of a launcher of several processes";
  }
  if (!chosen) return {.files = {}, .reason = "found no launcher of MPI", .is_needed = false};
  std::vector<std::string> folders = surroundings.folders;
  if (!surroundings.launcher.empty()) {
    const auto prefix = std::filesystem::path(surroundings.launcher).parent_path().parent_path();
    folders.insert(folders.begin(), (prefix / "lib").string());
  }
  const bool is_needed = !reason.empty();
  return {.files = files_of(chosen->libraries, folders),
          .reason = is_needed ? reason : std::string("found ") + chosen->name,
          .is_needed = is_needed};
}

}  // namespace

Choice choose_library(const Surroundings& surroundings) {
  if (!surroundings.file_of_mpi4py.empty())
    return {.files = {surroundings.file_of_mpi4py},
            .reason = "found mpi4py imported",
            .is_needed = true};
  if (!surroundings.file_of_program.empty())
    return {.files = {surroundings.file_of_program},
            .reason = "found a program with an MPI library",
            .is_needed = true};
  const char* const word = surroundings.variable("WEFT_MPI");
  if (word && *word != '\0') return choice_of_word(word, surroundings.folders);
  return choice_of_launcher(surroundings);
}

}  // namespace weft::loader
