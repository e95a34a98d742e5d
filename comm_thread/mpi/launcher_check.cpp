#include "comm_thread/mpi/launcher_check.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::comm_thread {
namespace {

/// A variable that holds the number of processes, or the rank of this one.
struct Word {
  const char* name;
  bool is_rank;
};

/// Variables of a batch script that is no step of its own (SLURM_NTASKS) say nothing of it.
constexpr Word words[] = {
    {"PMI_SIZE", false},
    {"OMPI_COMM_WORLD_SIZE", false},
    {"MV2_COMM_WORLD_SIZE", false},
    {"PMIX_SIZE", false},
    {"SLURM_STEP_NUM_TASKS", false},
    {"FLUX_JOB_SIZE", false},
    {"JSM_NAMESPACE_SIZE", false},
    {"PMI_RANK", true},
    {"OMPI_COMM_WORLD_RANK", true},
    {"MV2_COMM_WORLD_RANK", true},
    {"PMIX_RANK", true},
    {"SLURM_PROCID", true},
    {"PALS_RANKID", true},
    {"FLUX_TASK_RANK", true},
    {"JSM_NAMESPACE_RANK", true},
};

std::optional<long> number(const char* text) {
  if (!text || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

/// The variable by which the launcher of `library` tells the number of processes.
const char* own_size(const std::string& library) {
  return library.starts_with("Open MPI") ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
}

}  // namespace

std::string fault_of_lone_process(const std::string& library, const Variable& variable) {
  if (number(variable(own_size(library))) == 1) return {};
  for (const Word& word : words) {
    const auto value = number(variable(word.name));
    if (!value || *value <= (word.is_rank ? 0 : 1)) continue;
    std::string fault = "found one process alone, and ";
    fault += word.name;
    fault += "=" + std::to_string(*value) + " of a launcher of several: ";
    fault += library + " does not understand it; expected mpiexec of this MPI library";
    return fault;
  }
  return {};
}

long launched_process_count(const std::string& library, const Variable& variable) {
  return std::max(1L, number(variable(own_size(library))).value_or(1));
}

std::string fault_of_launcher(const Variable& variable) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size > 1 ? "" : fault_of_lone_process(MpiSession::library_version(), variable);
}

}  // namespace weft::comm_thread
