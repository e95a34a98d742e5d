// Main program of the tests with several ranks. Rank 0 reports as usual, another rank only when
// something failed there.
#define CATCH_CONFIG_RUNNER
#include "tests/support/mpi_main.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/mpi_session.h"

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

int run_tests(const std::string& rank, int argc, char** argv) {
  Catch::Session tests;
  if (const int bad_argument = tests.applyCommandLine(argc, argv)) return bad_argument;
  if (rank == "0") return tests.run();

  const std::filesystem::path report = report_path(rank);
  tests.configData().outputFilename = report.string();
  const int failure_count = tests.run();
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

int main(int argc, char** argv) {
  weft::comm_thread::MpiSession session;
  current_session = &session;
  return run_tests(launched_rank(), argc, argv);
}
