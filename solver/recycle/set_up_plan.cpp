#include "solver/recycle/set_up_plan.h"

#include <algorithm>
#include <cmath>

namespace weft::solver {
namespace {

/// Of `spread`, below which rounding and the first digits of a solve count for more.
constexpr double least_spread = 1.02;
constexpr double least_exponent = 0.05;
constexpr double most_exponent = 1;
/// Of the condition in the number of iterations, at most.
constexpr double exponent_of_condition = 0.5;
/// What is left of a surprise after a solve.
constexpr double surprise_share = 0.8;
}  // namespace

const char* name(SetUp what) {
  return what == SetUp::kept ? "kept" : what == SetUp::new_values ? "new values" : "made";
}

double SetUpPlan::predicted_excess(double spread) const {
  const bool is_known = rate_of_values_ > 0 && last_digits_ > 0;
  const double expected = is_known ? last_digits_ / rate_of_values_ : 1;
  const double tried = std::min(spread, tried_spread_);
  const double factor = std::pow(tried, exponent_) *
                        std::pow(spread / tried, std::max(exponent_, exponent_of_condition));
  return expected * (factor - 1);
}

SetUp SetUpPlan::choose(double spread) const {
  if (new_aggregates_pay()) return SetUp::made;
  if (solve_count_ == 0 || !std::isfinite(spread)) return SetUp::new_values;
  const double average = (costs_.new_values + excess_) / static_cast<double>(solve_count_);
  return predicted_excess(spread) + surprise_ < average ? SetUp::kept : SetUp::new_values;
}

/// True where a solve costs more additional iterations than the set-up has for each solve so far.
bool SetUpPlan::new_aggregates_pay() const {
  return solves_of_aggregates_ * recent_excess_of_aggregates_ >
         costs_.made - costs_.new_values + excess_of_aggregates_;
}

void SetUpPlan::note_look(SetUp done) {
  if (pause_ > 0) {
    --pause_;
    return;
  }
  if (done != SetUp::new_values || solve_count_ > 1) {
    renewals_in_turn_ = 0;
    next_pause_ = first_pause;
    return;
  }
  if (++renewals_in_turn_ < patience) return;
  pause_ = next_pause_;
  next_pause_ = std::min(2 * next_pause_, longest_pause);
}

void SetUpPlan::begin(SetUp done, double spread, const Costs& costs) {
  note_look(done);
  last_ = done;
  spread_ = spread;
  surprise_ *= surprise_share;
  if (done == SetUp::kept) return;
  costs_ = costs;
  excess_ = 0;
  solve_count_ = 0;
  rate_of_values_ = 0;
  if (done == SetUp::new_values) return;
  rate_of_made_ = 0;
  excess_of_aggregates_ = 0;
  recent_excess_of_aggregates_ = 0;
  solves_of_aggregates_ = 0;
}

/// Some matrices are easier than others, so that less than 0 counts, too, and about a quarter of
/// the solves as recent ones.
void SetUpPlan::note_aggregates(double digits) {
  const double excess = digits / rate_of_values_ - digits / rate_of_made_;
  excess_of_aggregates_ += excess;
  ++solves_of_aggregates_;
  recent_excess_of_aggregates_ +=
      4 / (3 + solves_of_aggregates_) * (excess - recent_excess_of_aggregates_);
}

void SetUpPlan::end(std::int64_t iterations, double digits) {
  ++solve_count_;
  last_digits_ = iterations > 0 ? digits : 0;
  if (iterations < 1 || !(digits > 0)) return;
  const auto count = static_cast<double>(iterations);
  const double rate = digits / count;
  if (!(rate_of_values_ > 0)) rate_of_values_ = rate;
  if (!(rate_of_made_ > 0)) rate_of_made_ = rate;
  note_aggregates(digits);
  if (last_ != SetUp::kept) return;
  const double excess = std::max(0.0, count - digits / rate_of_values_);
  surprise_ = std::max(surprise_, excess - predicted_excess(spread_));
  excess_ += excess;
  if (spread_ < least_spread || !std::isfinite(spread_)) return;
  const double seen = std::log(count * rate_of_values_ / digits) / std::log(spread_);
  exponent_ = std::clamp((exponent_ + seen) / 2, least_exponent, most_exponent);
  tried_spread_ = std::max(tried_spread_, spread_);
}

}  // namespace weft::solver
