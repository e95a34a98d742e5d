#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <string>

#include <catch2/catch.hpp>

TEST_CASE("what MPICH calls to poll and to yield are the functions of this program") {
  // Refers to MPI, so that its libraries are loaded.
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  CHECK(MPI_Get_library_version(text.data(), &length) == MPI_SUCCESS);
  for (const char* name : {"ucp_disconnect_nb", "ucp_worker_progress", "sched_yield"}) {
    INFO(name);
    void* const called = dlsym(RTLD_DEFAULT, name);
    REQUIRE(called != nullptr);
    Dl_info found{};
    REQUIRE(dladdr(called, &found) != 0);
    INFO(found.dli_fname);
    const std::string library = found.dli_fname;
    CHECK(library.find("libucp") == std::string::npos);
    CHECK(library.find("libc.so") == std::string::npos);
  }
}
