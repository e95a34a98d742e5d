#include "comm_thread/placement/cpu_quota.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>

#include "comm_thread/mpi/number_in.h"
#include "comm_thread/placement/control_groups.h"

namespace weft::comm_thread {
namespace {

namespace fs = std::filesystem;

/// The words of a file that has at most two.
std::vector<std::string> words_of(const fs::path& path) {
  std::vector<std::string> words;
  std::ifstream file(path);
  for (std::string word; words.size() <= 2 && file >> word;) words.push_back(word);
  return words;
}

/// "max" and -1, which stand for no limit, are none.
std::optional<std::int64_t> positive_in(std::string_view word) {
  const auto number = number_in<std::int64_t>(word);
  return number && *number > 0 ? number : std::nullopt;
}

std::optional<CpuQuota> quota_of(const ControlGroup& group) {
  const fs::path file = group.folder / (group.is_v2 ? "cpu.max" : "cpu.cfs_quota_us");
  std::vector<std::string> words = words_of(file);
  if (!group.is_v2)
    for (const std::string& word : words_of(group.folder / "cpu.cfs_period_us"))
      words.push_back(word);
  if (words.size() != 2) return std::nullopt;
  const auto quota = positive_in(words[0]);
  const auto period = positive_in(words[1]);
  if (!quota || !period) return std::nullopt;
  return CpuQuota{group.id, *quota, *period, file.string()};
}

/// What divisions leave below a whole number is no fraction.
constexpr double rounding = 1e-9;

}  // namespace

std::vector<CpuQuota> cpu_quotas(const fs::path& root) {
  std::vector<CpuQuota> quotas;
  for (const ControlGroup& group : control_groups("cpu", root))
    if (const auto quota = quota_of(group)) quotas.push_back(*quota);
  return quotas;
}

QuotaShare tightest_quota(const std::vector<std::vector<CpuQuota>>& ranks, std::size_t rank) {
  QuotaShare tightest{.quota = {}, .ranks = 0, .compute_threads = 0};
  for (const CpuQuota& quota : ranks[rank]) {
    const auto shares = [&](const std::vector<CpuQuota>& quotas) {
      return std::ranges::find(quotas, quota.group, &CpuQuota::group) != quotas.end();
    };
    const QuotaShare share{quota, static_cast<std::size_t>(std::ranges::count_if(ranks, shares)),
                           0};
    if (tightest.ranks == 0 || share.cores_of_rank() < tightest.cores_of_rank()) tightest = share;
  }
  return tightest;
}

std::size_t threads_for(double cores) {
  constexpr double enough_to_spare_one = 8;
  constexpr double most = 1 << 20;
  const double whole = std::floor(std::clamp(cores, 1.0, most) + rounding);
  return static_cast<std::size_t>(whole >= enough_to_spare_one ? whole - 1 : whole);
}

std::string cores_in_words(double cores) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.3g", cores);
  return std::string(number.data()) + (cores == 1 ? " core" : " cores");
}

}  // namespace weft::comm_thread
