// Of a weft that is linked with no MPI, in place of library/api/program_mpi.cpp.
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "library/api/program_mpi.h"
#include "library/include/weft/weft.hpp"
#include "library/loader/opened_library.h"

namespace weft::library {
namespace {

/// Called for each library of the process: keeps the first that is an MPI library.
int note_mpi(dl_phdr_info* library, std::size_t, void* found) {
  const std::string path = library->dlpi_name ? library->dlpi_name : "";
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view begin : {"libmpi.so.", "libmpich.so.", "libmpi_abi.so."}) {
    if (!name.starts_with(begin)) continue;
    *static_cast<std::string*>(found) = path;
    return 1;
  }
  return 0;
}

template <class Work>
auto with_errors_of_weft(const Work& work) {
  try {
    return work();
  } catch (const std::invalid_argument& fault) {
    throw Error(ErrorCode::bad_input, fault.what());
  } catch (const std::runtime_error& fault) {
    throw Error(ErrorCode::misuse, fault.what());
  }
}

}  // namespace

void open_mpi_of_program() {
  with_errors_of_weft([] {
    loader::Surroundings surroundings = loader::surroundings_of_process();
    dl_iterate_phdr(note_mpi, &surroundings.file_of_program);
    loader::open_library(surroundings);
  });
}

MPI_Comm communicator_of_program(MPI_Comm given) {
  open_mpi_of_program();
  return with_errors_of_weft([&] {
    // The program's own type, a number or an address, as mpi4py hands it out, too.
    return loader::communicator_from(reinterpret_cast<std::uintptr_t>(given));
  });
}

}  // namespace weft::library
