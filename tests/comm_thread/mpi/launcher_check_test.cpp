#include "comm_thread/mpi/launcher_check.h"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using weft::comm_thread::fault_of_lone_process;

namespace {

using Environment = std::map<std::string, std::string>;

std::string fault(const std::string& library, const Environment& environment) {
  return fault_of_lone_process(library, [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("one process of a launcher of several is a fault that names the variable") {
  const std::string mpich = "MPICH Version: 4.0.2";
  for (const Environment& environment :
       {Environment{{"PMI_SIZE", "2"}}, Environment{{"OMPI_COMM_WORLD_SIZE", "3"}},
        Environment{{"PMIX_RANK", "1"}}, Environment{{"SLURM_STEP_NUM_TASKS", "8"}},
        Environment{{"SLURM_PROCID", "1"}}}) {
    const std::string found = fault(mpich, environment);
    INFO(found);
    CHECK(found.find(environment.begin()->first + "=" + environment.begin()->second) !=
          std::string::npos);
    CHECK(found.find(mpich) != std::string::npos);
  }
  CHECK_FALSE(fault("Open MPI v5.0.11", {{"PMI_SIZE", "2"}}).empty());
}

TEST_CASE("one process alone is none") {
  for (const Environment& environment :
       {Environment{}, Environment{{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}},
        Environment{{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}},
        Environment{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}},
        Environment{{"PMI_SIZE", ""}, {"OMPI_COMM_WORLD_SIZE", "many"}}})
    CHECK(fault("MPICH Version: 4.0.2", environment).empty());
}

TEST_CASE("the launcher of the library itself is believed before those around it") {
  CHECK(fault("MPICH Version: 4.0.2", {{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}).empty());
  CHECK(fault("Open MPI v4.1.4", {{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMI_SIZE", "2"}}).empty());
}
