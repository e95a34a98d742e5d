#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::comm_thread {

/// Processor time that a control group grants its processes in each period: a container with
/// `docker --cpus 1.5` sees all cores and may use the time of one and a half. What runs when the
/// time of a period is used up stands still until the next one.
struct CpuQuota {
  std::int64_t group = 0;  // as ControlGroup::id
  std::int64_t quota_microseconds = 0;
  std::int64_t period_microseconds = 1;
  std::string file;  // that says so; empty in what other ranks tell
  /// Cores whose whole time that is.
  double cores() const {
    return static_cast<double>(quota_microseconds) / static_cast<double>(period_microseconds);
  }
  bool operator==(const CpuQuota&) const = default;
};

/// The quotas of all control groups around this process, its own first: `cpu.max` of version 2,
/// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1. All of them apply. Files that cannot be
/// understood count as no quota. `root`: as of control_groups.
std::vector<CpuQuota> cpu_quotas(const std::filesystem::path& root = "/");

/// What a quota leaves to each of the ranks that share it.
struct QuotaShare {
  CpuQuota quota;
  std::size_t ranks = 1;
  std::size_t compute_threads = 0;  // of these ranks
  double cores_of_rank() const { return quota.cores() / static_cast<double>(ranks); }
  bool operator==(const QuotaShare&) const = default;
};

/// The quota that leaves the rank least, of those of `ranks` on a node; `ranks[rank]`: as of
/// cpu_quotas. Its `ranks` is 0 where there is none.
QuotaShare tightest_quota(const std::vector<std::vector<CpuQuota>>& ranks, std::size_t rank);

/// Compute threads of a rank that has the time of `cores`: rounded down, at least one. A fraction
/// of a core is left to the communication thread: one more compute thread would be stopped in each
/// period, and all others wait for it at the next barrier. As with whole cores, from 8 on one is
/// left, too.
std::size_t threads_for(double cores);

/// "1 core", "1.5 cores".
std::string cores_in_words(double cores);

}  // namespace weft::comm_thread
