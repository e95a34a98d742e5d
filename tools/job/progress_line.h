#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weft::tools {

/// One line on the terminal that shows how far a run has come; silent where nobody watches.
///
/// Thread: the primary compute thread. Redraws at most ten times a second.
class ProgressLine {
 public:
  /// `is_shown`: this rank draws (rank 0 on a terminal). `tolerance`: where a solve is to arrive.
  explicit ProgressLine(bool is_shown, double tolerance = 0);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// How far a solve has come; after a moment also how quick it is and how long it will take, from
  /// how the residual has fallen so far.
  void update(std::int64_t iteration, double residual);
  /// Calls it.
  auto on_check() {
    return [this](std::int64_t iteration, double residual) { update(iteration, residual); };
  }
  /// How far anything else has come, and what is being done. `fraction_done`: from 0 to 1.
  void show(double fraction_done, const std::string& text);

  /// Takes the line away; the destructor does, too.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string rate(std::int64_t iteration, double fraction) const;

  bool is_shown_;
  double tolerance_;
  bool is_drawn_ = false;
  Clock::time_point next_ = Clock::now();
  Clock::time_point started_;  // at the first iteration shown
  std::int64_t first_iteration_ = -1;
  double first_fraction_ = 0;
};

/// Whether somebody watches standard error: a terminal, or the launcher says so (WEFT_TERMINAL).
bool somebody_watches();

}  // namespace weft::tools
