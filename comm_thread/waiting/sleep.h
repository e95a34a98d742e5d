#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weft::comm_thread {

/// Sleeps while `word` is `value`, until `wake_sleeper` or for `longest`; may return early. Unlike
/// std::atomic::wait, it has a time limit.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds longest);

/// Wakes one thread that sleeps on `word`, after the caller has changed it.
void wake_sleeper(const std::atomic<std::uint32_t>& word);

/// Makes later sleeps of the calling thread end on time: by default Linux rounds them up by 50 µs
/// and lets a compute thread on the same core finish its time slice of milliseconds.
void sleep_precisely();

}  // namespace weft::comm_thread
