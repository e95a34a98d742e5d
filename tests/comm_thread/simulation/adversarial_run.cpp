#include "tests/comm_thread/simulation/adversarial_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/simulation/simulated_network.h"
#include "tests/comm_thread/simulation/adversarial_model.h"
#include "tests/comm_thread/simulation/adversarial_rank.h"

namespace weft::comm_thread {
namespace {

/// Steps with disturbances, and steps after which a run that has not ended is said to hang.
constexpr std::uint64_t disturbed_steps = 60'000;
constexpr std::uint64_t most_steps = 600'000;

/// The deterministic scheduler: in each step some time passes, and one thread of one rank runs.
class AdversarialRun {
 public:
  explicit AdversarialRun(const AdversarialScenario& scenario)
      : scenario_(scenario),
        dice_(scenario.seed),
        setting_(roll(dice_, scenario.detector)),
        model_(dice_, scenario.fault, scenario.detector == DetectorKind::flags),
        network_(setting_.rank_count, model_) {
    for (int rank = 0; rank < setting_.rank_count; ++rank)
      ranks_.push_back(std::make_unique<AdversarialRank>(network_, rank, setting_));
    starved_until_.resize(2 * ranks_.size());
    quiet_polls_.resize(ranks_.size());
  }

  AdversarialOutcome run() {
    while (outcome_.fault.empty() && !have_all(AdversarialRank::Phase::done)) {
      if (++outcome_.step_count == disturbed_steps) model_.calm_down();
      if (outcome_.step_count > most_steps) return hangs();
      disturb();
      step();
    }
    if (outcome_.fault.empty()) check_end();
    for (const auto& rank : ranks_) outcome_.sweep_count += rank->sweep_count();
    outcome_.epoch_count = ranks_.front()->epoch();
    return std::move(outcome_);
  }

  /// What a fault has left in flight would be waited for without end.
  void abandon() {
    for (auto& rank : ranks_) [[maybe_unused]]
      const auto* const left = rank.release();
  }

 private:
  bool have_all(AdversarialRank::Phase phase) const {
    return std::ranges::all_of(ranks_, [&](const auto& rank) { return rank->phase() == phase; });
  }

  void disturb() {
    const bool is_calm = outcome_.step_count >= disturbed_steps;
    network_.set_now(network_.now() + microsecond * (is_calm ? 5.0 : 4 * dice_.fraction()));
    if (setting_.has_false_claims && dice_.one_in(100))
      ranks_[dice_.one_in(2) ? 0 : dice_.below(ranks_.size())]->change_claim();
    if (is_calm || !dice_.one_in(300)) return;
    const std::uint64_t until = outcome_.step_count + dice_.below(3000);
    const std::size_t rank = dice_.below(ranks_.size());
    const std::uint64_t who = dice_.below(3);  // both threads, or one of them
    if (who != 1) starved_until_[2 * rank] = until;
    if (who != 2) starved_until_[2 * rank + 1] = until;
  }

  void step() {
    const std::size_t thread = dice_.below(2 * ranks_.size());
    const bool was_quiet = is_quiet();
    const bool is_starved =
        outcome_.step_count < disturbed_steps && outcome_.step_count < starved_until_[thread];
    if (!is_starved) {
      AdversarialRank& rank = *ranks_[thread / 2];
      const bool was_flagged = rank.is_flagged();
      if (thread % 2 == 0)
        rank.step();
      else
        rank.poll();
      note(thread, rank);
      watch_quiet(thread, rank.is_flagged() != was_flagged);
    }
    if (scenario_.fault == PlantedFault::early_latch) ranks_[thread / 2]->latch();
    verify_together();
    check_flags(was_quiet);
  }

  void note(std::size_t thread, const AdversarialRank& rank) {
    const std::uint64_t seen = thread ^ std::bit_cast<std::uint64_t>(rank.values().front());
    outcome_.hash = (std::rotl(outcome_.hash, 5) ^ seen) * 0x9e3779b97f4a7c15U;
  }

  double true_value() const {
    double sum = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<double> halo{left_of(rank), right_of(rank)};
      sum += ranks_[rank]->contribution(ranks_[rank]->values(), halo);
    }
    return sum;
  }
  double left_of(std::size_t rank) const {
    return rank > 0 ? ranks_[rank - 1]->values().back() : 0;
  }
  double right_of(std::size_t rank) const {
    return rank + 1 < ranks_.size() ? ranks_[rank + 1]->values().front() : 0;
  }

  /// The synchronous halos and the sum: no rank leaves before all have come.
  void verify_together() {
    if (!std::ranges::all_of(ranks_, [](const auto& rank) { return rank->is_ready_to_verify(); }))
      return;
    const double value = true_value();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      ranks_[rank]->verify(value, left_of(rank), right_of(rank));
  }

  /// Every rank has polled twice since the last flag of a rank but the root changed, or a message
  /// was in flight: the root knows all flags.
  bool is_quiet() const {
    return std::ranges::all_of(quiet_polls_, [](std::uint64_t polls) { return polls >= 2; });
  }

  void watch_quiet(std::size_t thread, bool has_changed) {
    const bool is_root = thread / 2 == 0;
    if ((has_changed && !is_root) || network_.schedule_messages_in_flight() > 0)
      std::ranges::fill(quiet_polls_, 0);
    else if (thread % 2 == 1)
      ++quiet_polls_[thread / 2];
  }

  void check_flags(bool was_quiet) {
    if (!model_.take_has_fired() || !was_quiet) return;
    // The root itself may have swept between its decision and the message.
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      if (!ranks_[rank]->is_flagged()) outcome_.fault = "fired on a flag that was taken back";
  }

  void check_end() {
    bool gave_up = false;
    for (const auto& rank : ranks_) gave_up = gave_up || rank->has_given_up();
    const bool has_converged = ranks_.front()->has_converged();
    const double value = true_value();
    for (const auto& rank : ranks_)
      if (rank->has_converged() != has_converged) outcome_.fault = "ranks ended differently";
    if (has_converged && !(value <= threshold)) outcome_.fault = "ended unverified";
    if (!has_converged && !gave_up) outcome_.fault = "gave up though no rank wanted to";
    if (const std::size_t count = network_.in_flight(); count > 0)
      outcome_.fault = "leaked " + std::to_string(count) + " messages";
  }

  AdversarialOutcome hangs() {
    outcome_.fault = "hangs:";
    for (const auto& rank : ranks_)
      outcome_.fault += " " + std::to_string(static_cast<int>(rank->phase()));
    return std::move(outcome_);
  }

  AdversarialScenario scenario_;
  Dice dice_;
  Setting setting_;
  AdversarialModel model_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<AdversarialRank>> ranks_;
  std::vector<std::uint64_t> starved_until_;  // compute and communication thread of each rank
  std::vector<std::uint64_t> quiet_polls_;
  AdversarialOutcome outcome_;
};

}  // namespace

AdversarialOutcome run_adversarially(const AdversarialScenario& scenario) {
  AdversarialRun run(scenario);
  AdversarialOutcome outcome = run.run();
  if (!outcome.fault.empty()) run.abandon();
  return outcome;
}

}  // namespace weft::comm_thread
