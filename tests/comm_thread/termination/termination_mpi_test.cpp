#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/termination/termination.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

constexpr double small = 1e-16;  // a sum of squares
constexpr std::size_t local_count = 4;
constexpr std::array<DetectorKind, 4> all_detectors{
    DetectorKind::flags, DetectorKind::residual, DetectorKind::all_reduce, DetectorKind::snapshot};

/// Disturbance of a run.
struct Disturbance {
  int slow_rank = -1;  // sleeps between sweeps
  bool has_random_pauses = false;
  int giving_up_rank = -1;
  std::uint64_t iteration_limit = 0;  // of the rank that gives up
  bool claims_convergence = false;  // always, whatever the residual
  bool is_still_until_verdict = false;  // values stay wrong, however long the first verdict takes
  double threshold = small;
};

/// x_i = b_i + (x_{i-1} + x_{i+1}) / 3 on a chain of points, a few on each rank; every rank sweeps
/// with the newest values of its neighbours that it has.
class ChainIteration {
 public:
  ChainIteration(const Communicator& world, CommThread& comm_thread)
      : world_(world),
        comm_thread_(comm_thread),
        neighbours_(neighbours_of(world)),
        halo_(2),
        exchange_(world, neighbours_, 0),
        sum_(world, ReduceOperation::sum, 1, 1),
        channels_(world, comm_thread, specs_of(neighbours_), Delivery::async, {}) {}

  /// Neighbours in ascending order: their value is entry 0 or 1 of what travels.
  std::span<const HaloNeighbour> neighbours() const { return neighbours_; }
  std::uint64_t iteration() const { return iteration_; }

  /// Runs to the end that `termination` finds; returns the true value of the last verification.
  double run(Termination& termination, const Disturbance& disturbance, unsigned seed) {
    std::mt19937 random(seed + static_cast<unsigned>(world_.rank()));
    bool is_still = disturbance.is_still_until_verdict;
    while (true) {
      if (!is_still) sweep();
      pause(disturbance, random);
      switch (termination.after_sweep(state(disturbance))) {
        case SweepAction::sweep:
          break;
        case SweepAction::record_snapshot:
          recorded_ = values_;
          pack(recorded_, termination.snapshot_send_buffer());
          termination.snapshot_recorded();
          break;
        case SweepAction::evaluate_snapshot:
          termination.snapshot_evaluated(
              contribution(recorded_, by_side(termination.snapshot_halo())));
          break;
        case SweepAction::verify: {
          is_still = false;
          const double value = collective_true_value();
          if (termination.collective_verified(value)) return value;
        }
      }
    }
  }

  /// The true contributions of all ranks together, with fresh halos.
  double collective_true_value() {
    pack(values_, exchange_.send_buffer());
    exchange_.post(comm_thread_).wait();
    halo_ = by_side(exchange_.received());
    sum_.values()[0] = contribution(values_, halo_);
    sum_.post(comm_thread_).wait();
    return sum_.values()[0];
  }

 private:
  static std::vector<HaloNeighbour> neighbours_of(const Communicator& world) {
    std::vector<HaloNeighbour> neighbours;
    for (const int rank : {world.rank() - 1, world.rank() + 1}) {
      const auto place = static_cast<std::int64_t>(neighbours.size());
      if (rank >= 0 && rank < world.size()) neighbours.push_back({rank, place, 1, place, 1});
    }
    return neighbours;
  }

  static std::vector<ChannelSpec> specs_of(std::span<const HaloNeighbour> neighbours) {
    std::vector<ChannelSpec> specs;
    for (const HaloNeighbour& neighbour : neighbours)
      specs.push_back(
          {.neighbour = neighbour.rank, .send_count = 1, .receive_count = 1, .max_in_flight = 3});
    return specs;
  }

  bool is_left(std::size_t neighbour) const { return neighbours_[neighbour].rank < world_.rank(); }

  /// (left, right) from values in the order of the neighbours, zero without a neighbour.
  std::vector<double> by_side(std::span<const double> values) const {
    std::vector<double> sides(2);
    for (std::size_t i = 0; i < neighbours_.size(); ++i) sides[is_left(i) ? 0 : 1] = values[i];
    return sides;
  }

  void pack(std::span<const double> values, std::span<double> sent) const {
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      sent[i] = is_left(i) ? values.front() : values.back();
  }

  double wanted(std::span<const double> values, std::span<const double> halo, std::size_t i) const {
    const double before = i == 0 ? halo[0] : values[i - 1];
    const double after = i + 1 == local_count ? halo[1] : values[i + 1];
    return 1 + world_.rank() % 3 + (before + after) / 3;
  }

  double contribution(std::span<const double> values, std::span<const double> halo) const {
    double sum = 0;
    for (std::size_t i = 0; i < local_count; ++i) {
      const double difference = wanted(values, halo, i) - values[i];
      sum += difference * difference;
    }
    return sum;
  }

  void sweep() {
    for (std::size_t i = 0; i < channels_.size(); ++i)
      if (channels_[i].can_receive()) halo_[is_left(i) ? 0 : 1] = channels_[i].receive().values[0];
    const std::vector<double> old = values_;
    for (std::size_t i = 0; i < local_count; ++i) values_[i] = wanted(old, halo_, i);
    ++iteration_;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      if (!channels_[i].can_send()) continue;
      channels_[i].outgoing()[0] = is_left(i) ? values_.front() : values_.back();
      channels_[i].send(iteration_);
    }
  }

  void pause(const Disturbance& disturbance, std::mt19937& random) const {
    if (disturbance.slow_rank == world_.rank())
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    if (disturbance.has_random_pauses && random() % 8 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    std::this_thread::yield();  // more ranks than cores
  }

  SweepState state(const Disturbance& disturbance) const {
    const bool gives_up =
        disturbance.giving_up_rank == world_.rank() && iteration_ >= disturbance.iteration_limit;
    if (disturbance.claims_convergence) return {0, true, gives_up, iteration_};
    const double own = contribution(values_, halo_);
    return {own, own <= disturbance.threshold / world_.size(), gives_up, iteration_};
  }

  const Communicator& world_;
  CommThread& comm_thread_;
  std::vector<HaloNeighbour> neighbours_;
  std::vector<double> values_ = std::vector<double>(local_count);
  std::vector<double> recorded_;
  std::vector<double> halo_;  // left, right
  HaloExchange<double> exchange_;
  AllReduce sum_;
  ChannelSet channels_;
  std::uint64_t iteration_ = 0;
};

struct Outcome {
  double true_value;
  std::uint64_t iteration;
  DetectionReport report;
};

/// One run, and what must hold after every one.
Outcome run_and_check(const Communicator& world, CommThread& comm_thread, DetectorKind detector,
                      const Disturbance& disturbance, unsigned seed) {
  ChainIteration iteration(world, comm_thread);
  Termination termination(world, comm_thread,
                          {.detector = detector,
                           .threshold = disturbance.threshold,
                           .neighbours = iteration.neighbours()});
  Outcome outcome{};
  outcome.true_value = iteration.run(termination, disturbance, seed);
  outcome.iteration = iteration.iteration();
  const DetectionReport report = outcome.report = termination.collective_report(world);

  CHECK(iteration.collective_true_value() == outcome.true_value);
  CHECK(report.has_converged == termination.has_converged());
  CHECK(report.has_converged == (outcome.true_value <= disturbance.threshold));
  const auto fired = static_cast<std::int64_t>(report.fired_count);
  CHECK(fired >= 1);
  CHECK(world.min(fired) == world.max(fired));
  CHECK(world.min(std::int64_t{report.has_converged}) ==
        world.max(std::int64_t{report.has_converged}));
  CHECK(report.failed_verification_count == report.fired_count - report.has_converged);
  CHECK(report.fired_seconds <= report.terminated_seconds);
  CHECK(report.true_seconds <= report.terminated_seconds);
  CHECK(report.delay_seconds == report.terminated_seconds - report.true_seconds);
  CHECK(report.fewest_wasted_sweeps <= report.mean_wasted_sweeps);
  CHECK(report.mean_wasted_sweeps <= report.most_wasted_sweeps);
  return outcome;
}

/// Every detector, with and without a communication thread.
template <class Check>
void in_every_way(const Check& check) {
  for (const DetectorKind detector : all_detectors)
    for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
      CommThread comm_thread({.thread_level = level});
      check(comm_thread, detector);
    }
}

TEST_CASE("every detector ends a run whose true value is within the threshold") {
  const auto world = Communicator::collective_world();
  const unsigned runs = world.size() <= 4 ? 20 : 6;  // few cores, many threads
  in_every_way([&](CommThread& comm_thread, DetectorKind detector) {
    for (unsigned run = 0; run < runs; ++run) {
      const Outcome outcome =
          run_and_check(world, comm_thread, detector, {.has_random_pauses = true}, 100 * run);
      CHECK(outcome.report.has_converged);
    }
  });
}

TEST_CASE("a slow rank in the middle of the tree does not keep a run from ending") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, DetectorKind detector) {
    const Outcome outcome =
        run_and_check(world, comm_thread, detector,
                      {.slow_rank = std::min(1, world.size() - 1), .has_random_pauses = true}, 7);
    CHECK(outcome.report.has_converged);
  });
}

TEST_CASE("a wrong verdict is found out, and the run goes on until it is right") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, DetectorKind detector) {
    // A snapshot is right even if every rank is wrong about itself.
    const bool is_fooled = detector != DetectorKind::snapshot;
    const Outcome outcome =
        run_and_check(world, comm_thread, detector,
                      {.claims_convergence = true, .is_still_until_verdict = is_fooled}, 3);
    CHECK(outcome.report.has_converged);
    if (is_fooled) CHECK(outcome.report.failed_verification_count > 0);
  });
}

TEST_CASE("when one rank gives up, all end, converged or not") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, DetectorKind detector) {
    for (unsigned run = 0; run < 10; ++run) {
      const int culprit = static_cast<int>(run) % world.size();
      const std::uint64_t limit = 1 + 7 * run;
      const Outcome outcome = run_and_check(
          world, comm_thread, detector,
          {.has_random_pauses = true, .giving_up_rank = culprit, .iteration_limit = limit}, run);
      if (world.rank() == culprit && !outcome.report.has_converged)
        CHECK(outcome.iteration >= limit);
    }
  });
}

TEST_CASE("a run that can never converge ends when a rank gives up, and no sweep was too many") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, DetectorKind detector) {
    const Outcome outcome = run_and_check(world, comm_thread, detector,
                                          {.has_random_pauses = true,
                                           .giving_up_rank = world.size() - 1,
                                           .iteration_limit = 60,
                                           .threshold = -1},
                                          9);
    CHECK_FALSE(outcome.report.has_converged);
    CHECK(outcome.report.fired_count == 1);
    CHECK(outcome.report.true_seconds == outcome.report.terminated_seconds);
  });
}

}  // namespace
}  // namespace weft::comm_thread
