#include "solver/sweep/disturbance.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::solver {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::uint64_t sweeps_before_stall = 10;
constexpr double largest_amount = 1e6;
/// Sleeps end up to so much late; the last part of a pause is spent looking at the clock.
constexpr double late_seconds = 100e-6;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t end = text.find(':'); end != std::string_view::npos; end = text.find(':')) {
    words.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  words.push_back(text);
  return words;
}

/// True if all of `text` is a number.
template <class Number>
bool read(std::string_view text, Number& number) {
  const auto found = comm_thread::number_in<Number>(text);
  number = found.value_or(number);
  return found.has_value();
}

bool is_valid(const Fault& fault) {
  const bool is_large_enough =
      fault.kind == Fault::Kind::slow ? fault.amount >= 1 : fault.amount > 0;
  return is_large_enough && fault.amount <= largest_amount && fault.rank >= 0;
}

bool read_fault(std::string_view text, Fault& fault) {
  const std::vector<std::string_view> words = split(text);
  if (words.size() == 2 && words[0] == "jitter") {
    fault.kind = Fault::Kind::jitter;
    return read(words[1], fault.amount);
  }
  if (words.size() != 3) return false;
  if (words[0] == "slow")
    fault.kind = Fault::Kind::slow;
  else if (words[0] == "stall")
    fault.kind = Fault::Kind::stall;
  else if (words[0] == "pause")
    fault.kind = Fault::Kind::pause;
  else
    return false;
  return read(words[1], fault.rank) && read(words[2], fault.amount);
}

void pause(double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  if (seconds > late_seconds) std::this_thread::sleep_for(Seconds(seconds - late_seconds));
  while (Clock::now() < end) continue;
}

}  // namespace

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Fault Fault::parse(std::string_view text) {
  Fault fault;
  if (!read_fault(text, fault) || !is_valid(fault))
    throw comm_thread::InputError("found '" + std::string(text) +
                                  "'; expected slow:RANK:FACTOR, jitter:FRACTION, "
                                  "stall:RANK:SECONDS or pause:RANK:SECONDS, with FACTOR at least "
                                  "1, the others above 0, all at most 1000000");
  return fault;
}

Disturbance::Disturbance(std::vector<Fault> faults, int rank)
    : faults_(std::move(faults)), random_(static_cast<std::uint64_t>(rank)) {
  std::erase_if(faults_, [rank](const Fault& fault) { return !fault.concerns(rank); });
}

double Disturbance::pause_seconds(const Fault& fault, double sweep_seconds, int sweep_count,
                                  double pauses) {
  switch (fault.kind) {
    case Fault::Kind::slow:
      return (fault.amount - 1) * sweep_seconds;
    case Fault::Kind::jitter:
      return std::uniform_real_distribution<double>(0, fault.amount)(random_) * sweep_seconds;
    case Fault::Kind::pause:
      return fault.amount * pauses;
    case Fault::Kind::stall:
      break;
  }
  const bool is_due = sweep_count_ < sweeps_before_stall &&
                      sweep_count_ + static_cast<std::uint64_t>(sweep_count) >= sweeps_before_stall;
  return is_due ? fault.amount : 0;
}

/// Fixed pauses that are due after a part of a sweep, or after sweeps.
double Disturbance::fixed_pauses(double sweep_seconds, int sweep_count) {
  const double early = all_seconds_ > 0 ? early_seconds_ / all_seconds_ : 0;
  all_seconds_ += sweep_seconds;
  if (sweep_count > 0) return sweep_count - std::exchange(paused_fraction_, 0);
  early_seconds_ += sweep_seconds;
  const double due = std::max(0.0, early - paused_fraction_);
  paused_fraction_ += due;
  return due;
}

double Disturbance::after_sweep(double sweep_seconds, int sweep_count) {
  if (!is_active()) return 0;
  const auto begin = Clock::now();
  const double pauses = fixed_pauses(sweep_seconds, sweep_count);
  double seconds = 0;
  for (const Fault& fault : faults_)
    seconds += pause_seconds(fault, sweep_seconds, sweep_count, pauses);
  sweep_count_ += static_cast<std::uint64_t>(sweep_count);
  if (seconds > 0) pause(seconds);
  return Seconds(Clock::now() - begin).count();
}

}  // namespace weft::solver
