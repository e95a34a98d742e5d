#include "library/measure/mode_race.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm_thread/mpi/clock_offset.h"
#include "perfmodel/stopwatch.h"
#include "spmv/problems/random_numbers.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;

constexpr int warm_up_repetitions = 3;
constexpr std::uint64_t seed = 1;

}  // namespace

double ModeRace::bandwidth_bytes(const comm_thread::Job& job) { return BandwidthProbe::bytes(job); }

ModeRace::ModeRace(const comm_thread::Job& job, spmv::LinearOperator& op,
                   std::vector<spmv::Mode> modes, bool measures_bandwidth)
    : job_(job),
      op_(op),
      modes_(std::move(modes)),
      clock_offset_(1e-9 * static_cast<double>(
                               comm_thread::collective_clock_offset_ns(job.world(), job.node()))),
      x_(op.collective_make_operand()),
      y_(op.element_count()),
      first_y_(op.element_count()),
      seconds_(modes_.size()),
      phases_(modes_.size()) {
  if (measures_bandwidth) probe_.emplace(job);
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t i) {
      x_->values()[i] = spmv::uniform(seed, op_.global_row(i)) - 0.5;
    });
  });
}

void ModeRace::collective_run(int repetitions) {
  const std::size_t count = modes_.size();
  for (int i = -warm_up_repetitions; i < repetitions; ++i) {
    // The probe has filled the caches with its own array: no mode shall pay for that.
    if (probe_) collective_time(0, false);
    for (std::size_t turn = 0; turn < count; ++turn) {
      // Another one begins each time: what comes first is slower where data fit into the caches.
      const std::size_t m = (turn + static_cast<std::size_t>(i + warm_up_repetitions)) % count;
      const double seconds = collective_time(m, i >= 0);
      if (i >= 0) seconds_[m].push_back(seconds);
      compare(i == -warm_up_repetitions && turn == 0);
    }
    if (!probe_) continue;
    const double bandwidth = probe_->collective_load_bytes_per_second();
    if (i >= 0) bandwidth_.push_back(bandwidth);
  }
  differences_ = job_.world().sum(differences_);
}

double ModeRace::phase_seconds(std::size_t mode, Phase phase) const {
  return phases_[mode][phase] / static_cast<double>(seconds_[mode].size());
}

/// From when the last rank begins one product to when the last rank ends it.
double ModeRace::collective_time(std::size_t mode, bool is_counted) {
  perfmodel::PhaseTimer timer;
  double begin = 0;
  double end = 0;
  job_.world().barrier();
  job_.team().run([&](const TeamThread& thread) {
    thread.barrier();
    if (thread.is_primary()) begin = perfmodel::seconds_now();
    timer.start(thread.index);
    op_.apply(thread, modes_[mode], *x_, y_.data(), timer, {});
    thread.barrier();
    if (thread.is_primary()) end = perfmodel::seconds_now();
  });
  if (is_counted)
    for (std::size_t i = 0; i < perfmodel::phase_count; ++i) {
      const auto phase = static_cast<Phase>(i);
      phases_[mode][phase] += timer.times()[phase];
    }
  return job_.world().max(end + clock_offset_) - job_.world().max(begin + clock_offset_);
}

/// Counts results that differ in any bit from the first result of all.
void ModeRace::compare(bool is_first) {
  job_.team().run([&](const TeamThread& thread) {
    for (const spmv::Segment& segment : op_.segments(thread.index)) {
      const auto count = static_cast<std::size_t>(segment.count);
      const double* const y = y_.data() + segment.begin;
      double* const first = first_y_.data() + segment.begin;
      if (is_first) std::copy_n(y, count, first);
      if (std::memcmp(y, first, count * sizeof(double)) != 0) ++differences_;
    }
  });
}

}  // namespace weft::library
