#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weft::comm_thread {

/// Sleeps while `word` is `value`, until `wake_sleeper` or for `longest`; may also return early.
/// What std::atomic::wait does not offer: an end to the wait.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds longest);

/// Wakes one thread that sleeps on `word`, which its caller has changed.
void wake_sleeper(const std::atomic<std::uint32_t>& word);

/// From now on the calling thread's sleeps end about when they should: Linux otherwise rounds them
/// up by 50 µs, and lets a thread that computes on the same core finish its turn of milliseconds.
void sleep_precisely();

}  // namespace weft::comm_thread
