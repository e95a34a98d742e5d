#include "tools/job/patience.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "comm_thread/job/pulse.h"
#include "comm_thread/mpi/mpi_session.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/launcher_record.h"

namespace weft::tools {
namespace {

constexpr int exit_code_lost_rank = 5;  // as that of tools/launch, see exit_codes.h

/// Signs of life of all ranks that a launcher has to take in each second.
constexpr int beats_per_second = 512;
/// Signs of life within the time after which a rank is lost, at least.
constexpr double beats_in_time = 6;
/// The launcher knows better who is lost, so it goes first.
constexpr double seconds_for_launcher = 10;
/// Time for MPI to end the job before the process ends by itself.
constexpr unsigned seconds_to_abort = 5;
constexpr std::int64_t late_beats = 2;
/// Reports of waits that began at the same time are of one wait.
constexpr double seconds_of_same_wait = 0.5;

/// Seconds that this process has run, as its pulse counts them.
std::atomic<std::int64_t> beat_count{0};
double beat_seconds = 1;

[[noreturn]] void give_up(int rank, const std::string& awaited, double seconds) {
  alarm(seconds_to_abort);
  std::fflush(stdout);
  fmt::print(stderr, "weft: rank {} on {} gives up after {:.0f} s: {}; the job is ended\n", rank,
             host_name(), seconds, awaited);
  tell_launcher(fmt::format("gave-up {}", rank));
  comm_thread::MpiSession::abort(exit_code_lost_rank);
}

}  // namespace

double& patience_seconds() {
  static double seconds = default_patience_seconds;
  return seconds;
}

void start_signs_of_life(int rank, int rank_count) {
  if (rank_count < 2) return;
  beat_seconds = std::min(std::max(1.0, static_cast<double>(rank_count) / beats_per_second),
                          std::max(0.1, patience_seconds() / beats_in_time));
  // Until the process ends: who waits in MPI_Finalize is alive, too.
  static const auto pulse = std::make_unique<comm_thread::Pulse>(
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * beat_seconds)), [rank] {
        beat_count.fetch_add(1, std::memory_order_relaxed);
        tell_launcher_if_possible(fmt::format("alive {}", rank));
      });
  if (rank == 0) tell_launcher(fmt::format("patience {}", patience_seconds()));
}

void report_long_wait(int rank, const std::string& awaited, double seconds, double first_seconds) {
  static double began = -1;  // the wait of the last report
  static std::int64_t beats_before = 0;
  const std::int64_t beats = beat_count.load(std::memory_order_relaxed);
  const double begins = perfmodel::seconds_now() - seconds;
  if (std::abs(begins - began) > seconds_of_same_wait) {
    began = begins;
    // A report that is much later than the first one should be: the process was stopped.
    beats_before =
        beats - static_cast<std::int64_t>(std::min(seconds, first_seconds) / beat_seconds);
  }
  // Beats come late on a busy machine.
  const double lived = static_cast<double>(beats - beats_before + late_beats) * beat_seconds;
  const double limit = patience_seconds() + (has_launcher() ? seconds_for_launcher : 0);
  if (std::min(lived, seconds) >= limit) give_up(rank, awaited, seconds);
  fmt::print(stderr, "weft: rank {} has been waiting for {:.0f} s: {}\n", rank, seconds, awaited);
}

}  // namespace weft::tools
