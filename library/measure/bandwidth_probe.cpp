#include "library/measure/bandwidth_probe.h"

#include <algorithm>

#include "perfmodel/bandwidth_kernels.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {
namespace {

/// Well above any last-level cache.
constexpr std::size_t bytes_per_node = std::size_t{1} << 30;

}  // namespace

BandwidthProbe::BandwidthProbe(const comm_thread::Job& job)
    : job_(job),
      array_(bytes_per_node / sizeof(double) / static_cast<std::size_t>(job.ranks_on_node())),
      sums_(static_cast<std::size_t>(job.team().thread_count())) {
  job_.team().run([&](const comm_thread::TeamThread& thread) {
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(array_.size()), thread.index, thread.count);
    std::fill(array_.data() + share.begin, array_.data() + share.end, 1.0);
  });
}

double BandwidthProbe::bytes(const comm_thread::Job& job) {
  return static_cast<double>(bytes_per_node) / job.ranks_on_node();
}

double BandwidthProbe::collective_load_bytes_per_second() {
  double seconds = 0;
  job_.world().barrier();
  job_.team().run([&](const comm_thread::TeamThread& thread) {
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(array_.size()), thread.index, thread.count);
    thread.barrier();
    const perfmodel::Stopwatch watch;
    sums_[static_cast<std::size_t>(thread.index)] =
        perfmodel::load_probe(array_.data() + share.begin, share.end - share.begin);
    thread.barrier();
    if (thread.is_primary()) seconds = watch.seconds();
  });
  const double bytes = static_cast<double>(array_.size() * sizeof(double));
  return job_.world().sum(bytes) / job_.world().max(seconds);
}

}  // namespace weft::library
