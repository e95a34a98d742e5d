#pragma once

#include <new>
#include <stdexcept>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_error.h"
#include "library/include/weft/weft.hpp"

namespace weft::library {

/// Calls `work`; what weft throws inside leaves as weft::Error, what the caller's own functions
/// throw as it is.
template <class Work>
decltype(auto) guarded(const Work& work) {
  try {
    return work();
  } catch (const comm_thread::InputError& error) {
    throw Error(ErrorCode::bad_input, error.what());
  } catch (const comm_thread::MpiError& error) {
    throw Error(ErrorCode::mpi, error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::logic_error& error) {
    throw Error(ErrorCode::misuse, error.what());
  }
}

}  // namespace weft::library
