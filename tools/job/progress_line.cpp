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
constexpr double least_seconds_of_rate = 0.5;

/// How much of the way from residual 1 to the tolerance is done, on the logarithmic scale on which
/// the residual falls about evenly.
double fraction_done(double residual, double tolerance) {
  if (!(residual > 0) || !(tolerance > 0) || tolerance >= 1) return 0;
  return std::clamp(std::log(residual) / std::log(tolerance), 0.0, 1.0);
}

/// "45 s", "3 min", "2.5 h".
std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
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
  if (first_iteration_ < 0) {
    first_iteration_ = iteration;
    started_ = Clock::now();
    first_fraction_ = fraction_done(residual, tolerance_);
  }
  const double fraction = fraction_done(residual, tolerance_);
  show(fraction, fmt::format("iteration {}  residual {:.2e}{}", iteration, residual,
                             rate(iteration, fraction)));
}

std::string ProgressLine::rate(std::int64_t iteration, double fraction) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const auto iterations = static_cast<double>(iteration - first_iteration_);
  if (seconds < least_seconds_of_rate || iterations < 1) return "";
  std::string text = fmt::format("  {:.3g} iterations/s", iterations / seconds);
  if (fraction > first_fraction_ && fraction < 1)
    text += "  " + duration(seconds * (1 - fraction) / (fraction - first_fraction_)) + " left";
  return text;
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
