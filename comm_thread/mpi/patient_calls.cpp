#include "comm_thread/mpi/patient_calls.h"

#include <chrono>
#include <thread>

#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {
namespace {

/// Polls between two naps. With 4, 16 and 64 polls, and naps of 2, 10 and 50 µs, runs took the same
/// time; yields before the first nap made them slower.
constexpr unsigned looks_before_nap = 16;
constexpr std::chrono::microseconds nap_time{10};
/// In the place of a yield. MPICH yields after many polls only, so the wait is long already.
constexpr std::chrono::microseconds nap_of_yield{50};

struct Patience {
  int depth = 0;
  bool is_allowed = true;
  unsigned fruitless = 0;
};

thread_local Patience patience;

}  // namespace

PatientCalls::PatientCalls() {
  ++patience.depth;
  patience.fruitless = 0;
}

PatientCalls::~PatientCalls() { --patience.depth; }

void PatientCalls::never_on_this_thread() { patience.is_allowed = false; }

void PatientCalls::yield() {
  if (patience.is_allowed)
    std::this_thread::sleep_for(nap_of_yield);
  else
    yield_core();
}

void PatientCalls::after_look(unsigned event_count) {
  if (patience.depth == 0 || !patience.is_allowed) return;
  patience.fruitless = event_count > 0 ? 0 : patience.fruitless + 1;
  if (patience.fruitless < looks_before_nap) return;
  patience.fruitless = 0;
  std::this_thread::sleep_for(nap_time);
}

}  // namespace weft::comm_thread
