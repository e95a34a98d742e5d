#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::spmv {

/// What a product takes in either form, by the medians of the slowest thread.
struct StorageTimes {
  double crs_seconds = 0;
  double sell_seconds = 0;

  /// True if SELL takes at least 5 % less: the least that three products tell from noise.
  bool prefers_sell() const { return sell_seconds < 0.95 * crs_seconds; }
};

/// "SELL-8 (0.42 ms a product; CRS 0.61)", or `format` alone without times.
std::string storage_text(const std::string& format, const std::optional<StorageTimes>& times);

/// Finds out in which of two forms, both with the same bits, the products of a rank take less time,
/// from products that are made anyway: after some in CRS, one in SELL that is not counted, because
/// its rows have just been stored, then three of each in turn.
///
///     products   many   1      1    1     1    1     1    1     all others
///     form       CRS    SELL   CRS  SELL  CRS  SELL  CRS  SELL  the better one
///                       built  └──────────── timed ──────────┘
///
/// To store rows as SELL takes five to nine products, which are paid back after some 25 where SELL
/// takes 0.77 of the time. So it begins once `least_products` have been made, after which as many
/// again may be expected, or before where the caller expects so many to come. Medians of
/// three were right in 98 % of the cases where times were 1.2 apart, and in 80 % at 1.07
/// (docs/notes/products.md). Ranks need not agree on a form. Threads wait for each other in every
/// product, so that the slowest one decides for all of the rank.
///
/// Memory ordering: a thread writes only its own count, forecast and times, for each product, and
/// reads those of the others when it begins the product after the last timed one. There is a
/// barrier of the team between a product and the next, which orders these reads after the writes.
/// All threads find the same times, so that they come to the same decision and none has to tell the
/// others.
class StorageTrial {
 public:
  enum class Form { crs, sell };
  static constexpr std::int64_t least_products = 30;

  explicit StorageTrial(int thread_count) : threads_(static_cast<std::size_t>(thread_count)) {}

  /// Forgets all products; what is expected stays. Thread: the main thread, outside the team.
  void restart();

  /// Says how many products are to come; 0: products are not counted and the form stays, until the
  /// next call; none: nobody knows. Returns how many products there are to make until the form is
  /// settled, 0 where it is or where `count` is too small. Thread: as above.
  int expect_products(std::optional<std::int64_t> count);
  /// Says this for the products of one solve, inside it. Thread: `thread`, all with the same
  /// `count`, between the same products.
  void expect_products_here(int thread, std::int64_t count) {
    threads_[static_cast<std::size_t>(thread)].is_worthwhile |= count >= least_products;
  }
  bool is_held() const { return expected_ == 0; }

  /// The form of the product that `thread` begins. Thread: `thread`, for every product, after a
  /// barrier that all have reached since they ended the one before.
  Form begin_product(int thread);

  /// True if the product that `thread` has begun, and all later ones, are in the better form.
  bool is_settled(int thread) const {
    return threads_[static_cast<std::size_t>(thread)].times.has_value();
  }
  /// True between the first product in SELL and the end, and afterwards where SELL is kept.
  bool needs_sell(int thread) const {
    const Thread& own = threads_[static_cast<std::size_t>(thread)];
    return own.times ? own.times->prefers_sell() : own.turn != not_begun;
  }
  /// True if `add_seconds` is due for the product that `thread` has begun.
  bool is_timed(int thread) const { return threads_[static_cast<std::size_t>(thread)].turn > 0; }
  /// Adds to the time of that product, which may have parts. Thread: `thread`.
  void add_seconds(int thread, double seconds);

  /// None before the form is settled. Thread: the main thread, outside the team.
  std::optional<StorageTimes> times() const { return threads_.front().times; }

 private:
  static constexpr int sample_count = 3;
  static constexpr int timed_products = 2 * sample_count;
  static constexpr int not_begun = -1;

  struct alignas(64) Thread {
    std::int64_t products_before = 0;
    bool is_worthwhile = false;  // by the forecast of a solve
    int turn = not_begun;  // 0: the first product in SELL; 1 … timed_products: CRS and SELL in turn
    std::array<std::array<double, sample_count>, 2> seconds{};  // by form
    std::optional<StorageTimes> times;
  };

  StorageTimes compare() const;

  std::optional<std::int64_t> expected_;
  std::vector<Thread> threads_;
};

}  // namespace weft::spmv
