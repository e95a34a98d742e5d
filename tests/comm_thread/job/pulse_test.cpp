#include "comm_thread/job/pulse.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

namespace weft::comm_thread {

TEST_CASE("a pulse beats at once and again, whatever other threads do, and not after its end") {
  std::atomic<int> beats{0};
  {
    const Pulse pulse(std::chrono::milliseconds(1), [&] { ++beats; });
    while (beats < 3) std::this_thread::yield();
  }
  const int last = beats;
  CHECK(last >= 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(beats == last);
}

TEST_CASE("a pulse ends at once, however long its period is") {
  std::atomic<int> beats{0};
  {
    const Pulse pulse(std::chrono::hours(1), [&] { ++beats; });
    while (beats == 0) std::this_thread::yield();
  }
  CHECK(beats == 1);
}

}  // namespace weft::comm_thread
