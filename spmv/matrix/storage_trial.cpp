#include "spmv/matrix/storage_trial.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "perfmodel/statistics.h"

namespace weft::spmv {

namespace {

std::string milliseconds(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g}", 1e3 * seconds) : fmt::format("{:.0f}", 1e3 * seconds);
}

}  // namespace

std::string storage_text(const std::string& format, const std::optional<StorageTimes>& times) {
  if (!times) return format;
  const bool is_sell = times->prefers_sell();
  return fmt::format("{} ({} ms a product; {} {})", format,
                     milliseconds(is_sell ? times->sell_seconds : times->crs_seconds),
                     is_sell ? "CRS" : "SELL-8",
                     milliseconds(is_sell ? times->crs_seconds : times->sell_seconds));
}

void StorageTrial::restart() { std::ranges::fill(threads_, Thread{}); }

int StorageTrial::expect_products(std::optional<std::int64_t> count) {
  expected_ = count;
  if (threads_.front().times || count.value_or(0) < least_products) return 0;
  const int made =
      threads_.front().turn == not_begun
          ? static_cast<int>(std::min<std::int64_t>(threads_.front().products_before, 1))
          : 2 + threads_.front().turn;
  return 2 + timed_products + 1 - made;
}

StorageTrial::Form StorageTrial::begin_product(int thread) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  if (own.turn == not_begun) {
    const bool expects_enough = own.is_worthwhile || expected_.value_or(0) >= least_products;
    if (own.products_before++ < (expects_enough ? 1 : least_products)) return Form::crs;
  }
  if (!own.times) {
    ++own.turn;
    if (own.turn <= timed_products) return own.turn % 2 == 0 ? Form::sell : Form::crs;
    own.times = compare();
    own.turn = 0;  // no more times
  }
  return own.times->prefers_sell() ? Form::sell : Form::crs;
}

void StorageTrial::add_seconds(int thread, double seconds) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  const auto timed = static_cast<std::size_t>(own.turn - 1);
  own.seconds[timed % 2][timed / 2] += seconds;
}

/// Medians first: a thread that lost its core in one product does not count as the slowest.
StorageTimes StorageTrial::compare() const {
  const auto median = [](const std::array<double, sample_count>& seconds) {
    return perfmodel::median({seconds.begin(), seconds.end()});
  };
  StorageTimes slowest;
  for (const Thread& thread : threads_) {
    slowest.crs_seconds = std::max(slowest.crs_seconds, median(thread.seconds[0]));
    slowest.sell_seconds = std::max(slowest.sell_seconds, median(thread.seconds[1]));
  }
  return slowest;
}

}  // namespace weft::spmv
