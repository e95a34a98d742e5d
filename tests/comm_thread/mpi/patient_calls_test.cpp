#include "comm_thread/mpi/patient_calls.h"

#include <sys/resource.h>

#include <thread>

#include <catch2/catch.hpp>

using weft::comm_thread::PatientCalls;

namespace {

/// Number of times this thread gave up its core during unsuccessful polls.
long sleeps_in(int look_count) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < look_count; ++i) PatientCalls::after_look(0);
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_nvcsw - before.ru_nvcsw;
}

}  // namespace

TEST_CASE("a thread naps after looks in vain while its calls are patient, and only then") {
  CHECK(sleeps_in(1000) == 0);
  {
    const PatientCalls patient;
    CHECK(sleeps_in(1000) >= 1000 / 16 - 1);
    for (int i = 0; i < 10; ++i) {
      PatientCalls::after_look(1);
      CHECK(sleeps_in(15) == 0);
    }
  }
  CHECK(sleeps_in(1000) == 0);
}

TEST_CASE("a thread with a core of its own never naps in its calls") {
  std::thread([] {
    PatientCalls::never_on_this_thread();
    const PatientCalls patient;
    CHECK(sleeps_in(1000) == 0);
  }).join();
}
