#include <stdexcept>

#include "library/loader/opened_library.h"
#include "mpi_library.h"

namespace weft::python {

std::tuple<std::string, std::string, std::string> open_mpi(
    const std::string& file_of_mpi4py, const std::vector<std::string>& folders) {
  try {
    loader::Surroundings surroundings = loader::surroundings_of_process();
    surroundings.file_of_mpi4py = file_of_mpi4py;
    surroundings.folders = folders;
    const loader::OpenedLibrary& opened = loader::open_library(surroundings);
    return {loader::name(opened.interface), opened.file, opened.reason};
  } catch (const std::invalid_argument& fault) {
    throw Error(ErrorCode::bad_input, fault.what());
  } catch (const std::runtime_error& fault) {
    throw Error(ErrorCode::misuse, fault.what());
  }
}

MPI_Comm communicator_from(std::uintptr_t handle) {
  try {
    return loader::communicator_from(handle);
  } catch (const std::runtime_error& fault) {
    throw Error(ErrorCode::misuse, fault.what());
  }
}

}  // namespace weft::python
