// Main program of the tests with several ranks. Rank 0 reports as usual, another rank only when
// something failed there. Rank 0 also tells run_mpi_test that it gets on.
#include "tests/support/mpi_main.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // TestEventListenerBase
#include <catch2/catch.hpp>

#include "comm_thread/mpi/mpi_session.h"

// The linker's --wrap: Catch2's main program, from its library, and the one here, which is started.
extern "C" int __real_main(int argc, char** argv);  // NOLINT(bugprone-reserved-identifier)
extern "C" int __wrap_main(int argc, char** argv);  // NOLINT(bugprone-reserved-identifier)

namespace {

weft::comm_thread::MpiSession* current_session = nullptr;

// The launcher tells every process its rank: MPICH's, or Open MPI's.
std::string launched_rank() {
  for (const char* variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(variable)) return rank;
  return "0";
}

std::filesystem::path report_path(const std::string& rank) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::filesystem::path parent =
      folder == nullptr ? std::filesystem::temp_directory_path() : std::filesystem::path(folder);
  return parent / ("report_of_rank_" + rank);
}

/// Writes the name of the running section to the file that WEFT_TEST_PROGRESS names: when it
/// begins, and at most once a second while its assertions pass.
class ProgressWriter : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void sectionStarting(const Catch::SectionInfo& section) override {
    TestEventListenerBase::sectionStarting(section);
    name_ = section.name;
    write();
  }
  bool assertionEnded(const Catch::AssertionStats&) override {
    if (std::chrono::steady_clock::now() - written_ > std::chrono::seconds(1)) write();
    return true;
  }

 private:
  void write() {
    written_ = std::chrono::steady_clock::now();
    if (path_ != nullptr && launched_rank() == "0") std::ofstream(path_) << name_;
  }

  const char* const path_ = std::getenv("WEFT_TEST_PROGRESS");
  std::string name_;
  std::chrono::steady_clock::time_point written_;
};
CATCH_REGISTER_LISTENER(ProgressWriter)

int run_tests(const std::string& rank, int argc, char** argv) {
  if (rank == "0") return __real_main(argc, argv);

  const std::filesystem::path report = report_path(rank);
  std::string option = "--out=" + report.string();
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(option.data());
  arguments.push_back(nullptr);
  const int failure_count = __real_main(argc + 1, arguments.data());
  if (failure_count != 0) {
    std::cout << "rank " + rank + ":\n" << std::ifstream(report).rdbuf() << std::flush;
  }
  std::filesystem::remove(report);
  return failure_count;
}

}  // namespace

namespace weft::tests {

comm_thread::MpiSession& session() { return *current_session; }

}  // namespace weft::tests

int __wrap_main(int argc, char** argv) {
  // As weft does.
  setenv("OMPI_MCA_osc", "^rdma", 0);
  weft::comm_thread::MpiSession session;
  current_session = &session;
  return run_tests(launched_rank(), argc, argv);
}
