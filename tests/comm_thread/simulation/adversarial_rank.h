#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "comm_thread/termination/detector_kind.h"
#include "comm_thread/termination/termination.h"
#include "tests/comm_thread/simulation/adversarial_model.h"

namespace weft::comm_thread {

constexpr double threshold = 1e-6;  // of the sum of the squares
constexpr std::size_t local_count = 2;
constexpr std::uint64_t sweeps_with_claims = 400;

inline std::vector<HaloNeighbour> chain_neighbours(int rank, int rank_count) {
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
  /// In their first sweeps, ranks say now and then that they have converged, and take it back.
  bool has_false_claims;
};

inline Setting roll(Dice& dice, DetectorKind detector) {
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
  setting.has_false_claims = dice.one_in(2);
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
    const bool is_claimed = setting_.has_false_claims && sweep_count_ < sweeps_with_claims;
    const bool is_converged =
        is_claimed ? has_false_claim_ : own <= threshold / setting_.rank_count;
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

}  // namespace weft::comm_thread
