#include "comm_thread/mpi/library_check.h"

#include <catch2/catch.hpp>

#include "comm_thread/mpi/mpi_session.h"

using weft::comm_thread::first_line_of_version;
using weft::comm_thread::library_in_use;

TEST_CASE("the library that is linked is the one that was compiled for, and alone") {
  CHECK(weft::comm_thread::fault_of_handles() == "");
  CHECK(weft::comm_thread::other_libraries_at_work().empty());
  CHECK(library_in_use().file.find("libmpi") != std::string::npos);
  CHECK(library_in_use().text().find(library_in_use().file) != std::string::npos);
}

TEST_CASE("libraries made of MPICH are told from others by what they say") {
  for (const char* const version : {"MPICH Version: 5.0.2", "MVAPICH2 Version : 2.3.7",
                                    "MPI VERSION : CRAY MPICH version 8.1.28.15"})
    CHECK(weft::comm_thread::is_version_of_mpich(version));
  for (const char* const version :
       {"Open MPI v6.0.0", "Intel(R) MPI Library 2021.11 for Linux* OS", ""})
    CHECK_FALSE(weft::comm_thread::is_version_of_mpich(version));
}

TEST_CASE("a library's version is its first line with single blanks") {
  CHECK(first_line_of_version("MPICH Version:\t4.0.2\nMPICH Device:\tch4") ==
        "MPICH Version: 4.0.2");
  CHECK(first_line_of_version("MPICH Version:      5.0.2\n") == "MPICH Version: 5.0.2");
  CHECK(first_line_of_version("Open MPI v5.0.11, package") == "Open MPI v5.0.11, package");
}
