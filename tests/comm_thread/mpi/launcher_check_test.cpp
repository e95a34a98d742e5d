#include "comm_thread/mpi/launcher_check.h"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using weft::comm_thread::fault_of_lone_process;
using weft::comm_thread::launched_process_count;

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

TEST_CASE("every variable of a launcher is looked at, sizes above 1 and ranks above 0") {
  for (const char* const name :
       {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_SIZE",
        "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE"}) {
    INFO(name);
    CHECK(fault("another library", {{name, "1"}}).empty());
    CHECK_FALSE(fault("another library", {{name, "2"}}).empty());
  }
  for (const char* const name :
       {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID",
        "PALS_RANKID", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"}) {
    INFO(name);
    CHECK(fault("another library", {{name, "0"}}).empty());
    CHECK_FALSE(fault("another library", {{name, "1"}}).empty());
  }
}

TEST_CASE("the processes that a launcher tells its own library are counted") {
  const auto count = [](const std::string& library, const Environment& environment) {
    return launched_process_count(library, [&](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  };
  CHECK(count("MPICH Version: 4.0.2", {{"PMI_SIZE", "3"}}) == 3);
  CHECK(count("MPICH Version: 4.0.2", {{"OMPI_COMM_WORLD_SIZE", "3"}}) == 1);
  CHECK(count("Open MPI v5.0.11", {{"OMPI_COMM_WORLD_SIZE", "3"}, {"PMI_SIZE", "2"}}) == 3);
  CHECK(count("Open MPI v5.0.11", {{"OMPI_COMM_WORLD_SIZE", "none"}}) == 1);
}

TEST_CASE("the launcher of the library itself is believed before those around it") {
  CHECK(fault("MPICH Version: 4.0.2", {{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}).empty());
  CHECK(fault("Open MPI v4.1.4", {{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMI_SIZE", "2"}}).empty());
}
