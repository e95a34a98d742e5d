#include "tools/job/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace weft::tools {
namespace {

constexpr int bar_width = 30;
constexpr std::chrono::milliseconds between_redraws{100};

/// How much of the way from residual 1 to the tolerance is done, on the logarithmic scale on which
/// the residual falls about evenly.
double fraction_done(double residual, double tolerance) {
  if (!(residual > 0) || !(tolerance > 0) || tolerance >= 1) return 0;
  return std::clamp(std::log(residual) / std::log(tolerance), 0.0, 1.0);
}

}  // namespace

bool somebody_watches() { return std::getenv("WEFT_TERMINAL") != nullptr || isatty(STDERR_FILENO); }

ProgressLine::ProgressLine(bool is_shown, double tolerance)
    : is_shown_(is_shown), tolerance_(tolerance) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (is_drawn_) std::fputs("\r\033[K", stderr);
  is_drawn_ = false;
}

void ProgressLine::update(std::int64_t iteration, double residual) {
  if (!is_shown_ || Clock::now() < next_) return;
  show(fraction_done(residual, tolerance_),
       fmt::format("iteration {}  residual {:.2e}", iteration, residual));
}

void ProgressLine::show(double fraction_done, const std::string& text) {
  if (!is_shown_ || Clock::now() < next_) return;
  next_ = Clock::now() + between_redraws;
  const int done = static_cast<int>(bar_width * fraction_done);
  const std::string bar = std::string(static_cast<std::size_t>(done), '#') +
                          std::string(static_cast<std::size_t>(bar_width - done), '.');
  fmt::print(stderr, "\r[{}] {}\033[K", bar, text);
  std::fflush(stderr);
  is_drawn_ = true;
}

}  // namespace weft::tools
