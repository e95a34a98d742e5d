#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <string>

#include <catch2/catch.hpp>

TEST_CASE("what MPICH calls to take leave of a peer is the function of this program") {
  // Refers to MPI, so that its libraries are loaded.
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  CHECK(MPI_Get_library_version(text.data(), &length) == MPI_SUCCESS);
  void* const called = dlsym(RTLD_DEFAULT, "ucp_disconnect_nb");
  REQUIRE(called != nullptr);
  Dl_info found{};
  REQUIRE(dladdr(called, &found) != 0);
  INFO(found.dli_fname);
  CHECK(std::string(found.dli_fname).find("libucp") == std::string::npos);
}
