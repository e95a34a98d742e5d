#include "comm_thread/mpi/mpi_error.h"

#include <array>
#include <string>

namespace weft::comm_thread {

void check_mpi(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(std::string("MPI failed to ") + doing + ": " +
                 std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace weft::comm_thread
