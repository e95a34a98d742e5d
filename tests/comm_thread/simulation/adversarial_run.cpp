#include "tests/comm_thread/simulation/adversarial_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/simulation/network_model.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "comm_thread/termination/flag_tree.h"
#include "comm_thread/termination/termination.h"

namespace weft::comm_thread {
namespace {

constexpr double threshold = 1e-6;  // of the sum of the squares
constexpr std::size_t local_count = 2;
constexpr std::uint64_t sweeps_with_claims = 150;
constexpr double microsecond = 1e-6;
/// Steps with disturbances, and steps after which a run that has not ended is said to hang.
constexpr std::uint64_t disturbed_steps = 60'000;
constexpr std::uint64_t most_steps = 600'000;

/// Random numbers that are the same everywhere, unlike the standard library's distributions.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  double fraction() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// Delays of any length, most short; plants faults.
class AdversarialModel final : public NetworkModel {
 public:
  AdversarialModel(Dice& dice, PlantedFault fault, bool uses_flags)
      : dice_(dice), fault_(fault), uses_flags_(uses_flags) {}

  double arrival(const SimulatedRoute& route, std::size_t bytes, double now) override {
    static_cast<void>(route);
    static_cast<void>(bytes);
    return now + delay();
  }

  double acknowledgement(const SimulatedRoute& route, double now) override {
    static_cast<void>(route);
    const bool is_dropped =
        fault_ == PlantedFault::dropped_acknowledgement && !uses_flags_ && dice_.one_in(200);
    return is_dropped ? std::numeric_limits<double>::infinity() : now + delay();
  }

  double reduction(int rank_count, double now) override {
    static_cast<void>(rank_count);
    return now + delay();
  }

  bool carries(const SimulatedRoute& route, std::span<std::byte> payload) override {
    if (!uses_flags_) return true;
    constexpr int flag_tag = 0;
    constexpr int decision_tag = 2;
    if (payload.empty())  // an acknowledgement
      return fault_ != PlantedFault::dropped_acknowledgement || !dice_.one_in(4);
    if (payload.size() != sizeof(FlagMessage)) return true;
    FlagMessage message;
    std::memcpy(&message, payload.data(), sizeof message);
    if (route.from == 0 && route.tag == decision_tag && message.flag == Verdict::converged)
      has_fired_ = true;
    if (fault_ == PlantedFault::lost_retraction && route.tag == flag_tag &&
        message.flag == Verdict::none && !message.is_last) {
      message.flag = Verdict::converged;
      std::memcpy(payload.data(), &message, sizeof message);
    }
    return true;
  }

  void calm_down() { is_calm_ = true; }

  /// True once after the root of the flags has sent the decision that all have converged.
  bool take_has_fired() { return std::exchange(has_fired_, false); }

 private:
  double delay() {
    if (is_calm_) return microsecond;
    if (dice_.one_in(50)) return 5000 * microsecond * dice_.fraction();
    return 50 * microsecond * dice_.fraction();
  }

  Dice& dice_;
  PlantedFault fault_;
  bool uses_flags_;
  bool is_calm_ = false;
  bool has_fired_ = false;
};

std::vector<HaloNeighbour> chain_neighbours(int rank, int rank_count) {
  std::vector<HaloNeighbour> neighbours;
  for (const int other : {rank - 1, rank + 1}) {
    const auto place = static_cast<std::int64_t>(neighbours.size());
    if (other >= 0 && other < rank_count) neighbours.push_back({other, place, 1, place, 1});
  }
  return neighbours;
}

/// What all ranks have in common.
struct Setting {
  int rank_count;
  DetectorKind detector;
  Delivery delivery;
  int max_in_flight;
  Acknowledgement acknowledgement;
  int giving_up_rank;  // or -1
  std::uint64_t sweep_limit;  // of that rank
  bool has_false_claims;  // ranks say now and then that they have converged, and take it back
};

Setting roll(Dice& dice, DetectorKind detector) {
  Setting setting{};
  setting.rank_count = 2 + static_cast<int>(dice.below(8));
  setting.detector = detector;
  setting.delivery = dice.one_in(2) ? Delivery::async : Delivery::racy;
  setting.max_in_flight = 1 + static_cast<int>(dice.below(4));
  setting.acknowledgement =
      dice.one_in(2) ? Acknowledgement::on_arrival : Acknowledgement::on_release;
  const bool gives_up = dice.one_in(8);
  const auto rank_count = static_cast<std::uint64_t>(setting.rank_count);
  setting.giving_up_rank = gives_up ? static_cast<int>(dice.below(rank_count)) : -1;
  setting.sweep_limit = 1 + dice.below(40);
  setting.has_false_claims = dice.one_in(4);
  return setting;
}

/// x_i = b_i + (x_{i-1} + x_{i+1}) / 3 on a chain, two points on each rank; what AsyncIteration
/// does, cut into steps between which anything may happen elsewhere.
class AdversarialRank {
 public:
  AdversarialRank(SimulatedNetwork& network, int rank, const Setting& setting)
      : setting_(setting),
        rank_(rank),
        clock_(network, rank),
        space_(network, rank),
        comm_thread_({.is_polled = true, .clock = &clock_}),
        neighbours_(chain_neighbours(rank, setting.rank_count)),
        channels_(make_channels(network)),
        termination_(std::make_unique<Termination>(
            static_cast<const MessageSpace&>(space_), comm_thread_,
            Termination::Options{
                .detector = setting.detector, .threshold = threshold, .neighbours = neighbours_})) {
  }

  enum class Phase { sweeping, verifying, verified, draining, closing, done };

  Phase phase() const { return phase_; }
  std::span<const double> values() const { return values_; }
  std::uint64_t sweep_count() const { return sweep_count_; }
  std::uint64_t epoch() const { return termination_->epoch(); }
  bool has_converged() const { return termination_->has_converged(); }
  bool has_given_up() const { return gives_up(); }
  /// Whether its last sweep, in this epoch, has converged or wants to give up.
  bool is_flagged() const { return is_flagged_; }
  bool is_ready_to_verify() const {
    return phase_ == Phase::verifying && termination_->can_verify();
  }

  /// A round of the communication thread.
  void poll() { comm_thread_.poll(); }

  /// It says from now on that it has converged, or does not any more.
  void change_claim() { has_false_claim_ = !has_false_claim_ && sweep_count_ < sweeps_with_claims; }

  /// One step of the compute thread. Throws the errors of the communication thread.
  void step() {
    switch (phase_) {
      case Phase::sweeping:
        sweep();
        break;
      case Phase::verifying:
      case Phase::done:
        break;
      case Phase::verified:
        leave_verification(verified_value_);
        break;
      case Phase::draining:
        if (!termination_->is_drained()) break;
        termination_->detach();
        channels_->begin_close();
        phase_ = Phase::closing;
        break;
      case Phase::closing:
        if (!channels_->is_drained()) break;
        channels_->end_close();
        phase_ = Phase::done;
        break;
    }
  }

  /// All ranks verify together: the true value, and fresh halos.
  void verify(double true_value, double left, double right) {
    verified_value_ = true_value;
    halo_ = {left, right};
    phase_ = Phase::verified;
  }

  /// Ends without having been verified: the fault.
  void latch() {
    if (phase_ == Phase::verifying && termination_->can_verify()) leave_verification(0);
  }

  double contribution(std::span<const double> values, std::span<const double> halo) const {
    double sum = 0;
    for (std::size_t i = 0; i < local_count; ++i) {
      const double difference = wanted(values, halo, i) - values[i];
      sum += difference * difference;
    }
    return sum;
  }

 private:
  std::unique_ptr<ChannelSet> make_channels(SimulatedNetwork& network) {
    std::vector<ChannelSpec> specs;
    std::vector<LinkPlan> plans;
    constexpr std::size_t bytes = sizeof(MessageHeader) + sizeof(double);
    for (const HaloNeighbour& neighbour : neighbours_) {
      specs.push_back({.neighbour = neighbour.rank,
                       .send_count = 1,
                       .receive_count = 1,
                       .max_in_flight = setting_.max_in_flight});
      plans.push_back({.neighbour = neighbour.rank,
                       .send_bytes = bytes,
                       .receive_bytes = bytes,
                       .slot_count = static_cast<std::size_t>(setting_.max_in_flight)});
    }
    return std::make_unique<ChannelSet>(
        comm_thread_, specs, setting_.delivery,
        std::make_unique<SimulatedTransport>(network, rank_, plans, setting_.acknowledgement));
  }

  bool is_left(std::size_t neighbour) const { return neighbours_[neighbour].rank < rank_; }

  double wanted(std::span<const double> values, std::span<const double> halo, std::size_t i) const {
    const double before = i == 0 ? halo[0] : values[i - 1];
    const double after = i + 1 == local_count ? halo[1] : values[i + 1];
    return 1 + rank_ % 3 + (before + after) / 3;
  }

  double edge(std::span<const double> values, std::size_t neighbour) const {
    return is_left(neighbour) ? values.front() : values.back();
  }

  bool gives_up() const {
    return rank_ == setting_.giving_up_rank && sweep_count_ >= setting_.sweep_limit;
  }

  void sweep() {
    ChannelSet& channels = *channels_;
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (channels[i].can_receive()) halo_[is_left(i) ? 0 : 1] = channels[i].receive().values[0];
    const std::vector<double> old = values_;
    for (std::size_t i = 0; i < local_count; ++i) values_[i] = wanted(old, halo_, i);
    ++sweep_count_;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (!channels[i].can_send()) continue;
      channels[i].outgoing()[0] = edge(values_, i);
      channels[i].send(sweep_count_);
    }
    const double own = contribution(values_, halo_);
    const bool is_converged = has_false_claim_ || own <= threshold / setting_.rank_count;
    is_flagged_ = is_converged || gives_up();
    act(termination_->after_sweep({own, is_converged, gives_up(), sweep_count_}));
  }

  void act(SweepAction action) {
    switch (action) {
      case SweepAction::sweep:
        break;
      case SweepAction::record_snapshot:
        recorded_ = values_;
        for (std::size_t i = 0; i < neighbours_.size(); ++i)
          termination_->snapshot_send_buffer()[i] = edge(recorded_, i);
        termination_->snapshot_recorded();
        break;
      case SweepAction::evaluate_snapshot: {
        std::vector<double> sides(2);
        for (std::size_t i = 0; i < neighbours_.size(); ++i)
          sides[is_left(i) ? 0 : 1] = termination_->snapshot_halo()[i];
        termination_->snapshot_evaluated(contribution(recorded_, sides));
        break;
      }
      case SweepAction::verify:
        phase_ = Phase::verifying;
    }
  }

  void leave_verification(double value) {
    is_flagged_ = false;
    phase_ = termination_->verified(value) ? Phase::draining : Phase::sweeping;
  }

  Setting setting_;
  int rank_;
  SimulatedClock clock_;
  SimulatedSpace space_;
  CommThread comm_thread_;
  std::vector<HaloNeighbour> neighbours_;
  std::unique_ptr<ChannelSet> channels_;
  std::unique_ptr<Termination> termination_;
  Phase phase_ = Phase::sweeping;
  std::vector<double> values_ = std::vector<double>(local_count);
  std::vector<double> recorded_;
  std::vector<double> halo_ = std::vector<double>(2);  // left, right
  double verified_value_ = 0;
  bool is_flagged_ = false;
  bool has_false_claim_ = false;
  std::uint64_t sweep_count_ = 0;
};

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
    for (auto& rank : ranks_) static_cast<void>(rank.release());
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
