#include "library/loader/library_choice.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace weft::loader;

namespace {

/// The choice of a process with these variables.
Choice choice(const std::map<std::string, std::string>& variables,
              const std::string& file_of_mpi4py = {}, const std::string& launcher = {}) {
  return choose_library({.variable =
                             [&](const char* name) {
                               const auto found = variables.find(name);
                               return found == variables.end() ? nullptr : found->second.c_str();
                             },
                         .file_of_mpi4py = file_of_mpi4py,
                         .launcher = launcher,
                         .folders = {"/venv/lib"}});
}

using Files = std::vector<std::string>;

}  // namespace

TEST_CASE("a process that no launcher has started needs no library") {
  for (const auto& variables : std::vector<std::map<std::string, std::string>>{
           {},
           {{"WEFT_MPI", ""}},
           // A batch script of several tasks is itself none of them.
           {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
           {{"FLUX_JOB_SIZE", "1"}, {"FLUX_TASK_RANK", "0"}}}) {
    const Choice found = choice(variables);
    CHECK(found.files.empty());
    CHECK_FALSE(found.is_needed);
  }
}

TEST_CASE("the library of an imported mpi4py comes before everything else") {
  const Choice found = choice({{"WEFT_MPI", "openmpi"}, {"PMI_SIZE", "2"}}, "/there/libmpi.so.12");
  CHECK(found.files == Files{"/there/libmpi.so.12"});
  CHECK(found.is_needed);
}

TEST_CASE("the library that the program is linked with comes before WEFT_MPI and the launcher") {
  const Choice found = choose_library({.variable = [](const char*) { return "openmpi"; },
                                       .file_of_mpi4py = {},
                                       .file_of_program = "/there/libmpich.so.12",
                                       .launcher = {},
                                       .folders = {}});
  CHECK(found.files == Files{"/there/libmpich.so.12"});
  CHECK(found.is_needed);
}

TEST_CASE("WEFT_MPI comes before the launcher") {
  const std::map<std::string, std::string> launched{{"OMPI_COMM_WORLD_SIZE", "4"}};
  const auto with = [&](const std::string& word) {
    auto variables = launched;
    variables["WEFT_MPI"] = word;
    return choice(variables);
  };
  CHECK(with("none").files.empty());
  CHECK(with("mpich").files == Files{"/venv/lib/libmpi.so.12", "/venv/lib/libmpich.so.12",
                                     "libmpi.so.12", "libmpich.so.12"});
  CHECK(with("openmpi").files == Files{"/venv/lib/libmpi.so.40", "libmpi.so.40"});
  CHECK(with("mpiabi").files == Files{"/venv/lib/libmpi_abi.so.1", "libmpi_abi.so.1"});
  CHECK(with("./libmpi.so").files == Files{"./libmpi.so"});
  CHECK(with("mpich").is_needed);
  CHECK_THROWS_WITH(with("lam"),
                    "found WEFT_MPI=lam; expected mpich, openmpi, mpiabi, none, or the path of an "
                    "MPI library");
}

TEST_CASE("a launcher's variables name its library, and the one beside it comes first") {
  const Choice open_mpi =
      choice({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}}, {}, "/opt/ompi/bin/prterun");
  CHECK(open_mpi.files ==
        Files{"/opt/ompi/lib/libmpi.so.40", "/venv/lib/libmpi.so.40", "libmpi.so.40"});
  CHECK(open_mpi.is_needed);
  CHECK(open_mpi.reason == "found OMPI_COMM_WORLD_SIZE=2 of a launcher of several processes");

  const Choice mpich = choice({{"PMI_SIZE", "3"}, {"PMI_RANK", "0"}});
  CHECK(mpich.files.front() == "/venv/lib/libmpi.so.12");
  CHECK(mpich.files.back() == "libmpi_abi.so.1");
  CHECK(mpich.is_needed);
  // A process alone may go without.
  CHECK_FALSE(choice({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}).is_needed);
  CHECK_FALSE(choice({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}).files.empty());
}

TEST_CASE("a batch system that has started several processes takes what the loader finds") {
  const Choice slurm = choice({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}});
  CHECK(slurm.files.front() == "/venv/lib/libmpi.so.12");
  CHECK(slurm.files.size() == 8);
  CHECK(slurm.is_needed);
  CHECK(choice({{"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "1"}}).files.front() ==
        "/venv/lib/libmpi.so.40");
}
