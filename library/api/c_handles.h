#pragma once

#include <exception>
#include <new>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "library/include/weft/weft.h"
#include "library/include/weft/weft.hpp"

struct weft_job {
  weft::Job job;
  mutable std::string findings{};  // as asked for last
};

struct weft_matrix {
  weft::Matrix matrix;
  mutable std::string remarks{};  // as asked for last
};

struct weft_solver {
  weft::Matrix matrix;
  weft::Solver solver;
  std::string report;
};

namespace weft::library {

/// Keeps `text` for weft_error_message; returns `code`.
int fail(int code, const char* text);

/// Calls `work`; an exception becomes a code and a message.
template <class Work>
int caught(const Work& work) {
  try {
    work();
    return WEFT_OK;
  } catch (const weft::Error& error) {
    return fail(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(WEFT_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(WEFT_ERROR_CALLBACK, error.what());
  } catch (...) {
    return fail(WEFT_ERROR_CALLBACK, "a function of the caller threw what is no std::exception");
  }
}

/// Throws weft::Error where `pointer`, which is called `what`, is null.
void expect(const void* pointer, const char* what);

/// Makes a handle; null where that fails.
template <class Handle, class Make>
int made(Handle** result, const Make& make) {
  return caught([&] {
    expect(result, "the result");
    *result = nullptr;
    *result = make();
  });
}

/// From "--NAME VALUE ..." or a JSON object; none where `text` is null. What is wrong on one rank
/// of the job is thrown on all, as weft::Error. `doing`: as of Job::expect_all. Collective.
weft::Options collective_options_of(weft::Job::State& job, const char* text, const char* doing);

}  // namespace weft::library
