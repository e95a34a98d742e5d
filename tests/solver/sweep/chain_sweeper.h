#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"

namespace weft::tests {

/// Coefficients and threshold of a chain: A = tridiag(-c, 1, -c).
struct Chain {
  std::int64_t point_count = 41;
  double coupling = 1.0 / 3;  // c; beyond 1/2 the iteration diverges on long chains
  double scale = 1;  // of b

  double b(std::int64_t point) const { return scale * (1 + static_cast<double>(point % 3)); }
  double sweep(std::int64_t point, double before, double after) const {
    return b(point) + coupling * (before + after);
  }
  double residual(std::int64_t point, double before, double value, double after) const {
    return b(point) - (value - coupling * (before + after));
  }
};

/// A rank's part of a chain, from 0, with halos `depth` points deep, where ranks and threads share
/// the points evenly.
///
///     | depth of the rank before | own | depth of the rank after |     twice: current and new
///
/// Counts what its driver does; what it counts is the primary thread's.
class ChainSweeper final : public solver::Sweeper {
 public:
  ChainSweeper(const comm_thread::Communicator& world, const comm_thread::ComputeTeam& team,
               const Chain& chain, int depth = 1)
      : team_(team),
        chain_(chain),
        depth_(static_cast<std::size_t>(depth)),
        own_(comm_thread::share_of(chain.point_count, world.rank(), world.size())) {
    const bool has_side[2] = {world.rank() > 0, world.rank() + 1 < world.size()};
    for (std::size_t side = 0; side < 2; ++side) {
      if (!has_side[side]) continue;
      const auto place = static_cast<std::int64_t>(neighbours_.size()) * depth;
      neighbours_.push_back({world.rank() + (side == 0 ? -1 : 1), place, depth, place, depth});
      sides_.push_back(side);
    }
    for (auto& values : values_) values.resize(count() + 2 * depth_);
  }

  std::span<const double> values() const { return {values_[0].data() + depth_, count()}; }

  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  int sweeps_per_exchange() const override { return static_cast<int>(depth_); }

  void pack(const comm_thread::TeamThread& thread, solver::SweepState state, std::size_t neighbour,
            std::span<double> out) const override {
    const double* const from = begin_of(state) + (sides_[neighbour] == 0 ? 0 : count() - depth_);
    const auto [begin, end] = comm_thread::share_of(std::ssize(out), thread.index, thread.count);
    std::copy(from + begin, from + end, out.data() + begin);
    if (thread.is_primary() && state == solver::SweepState::current) ++pack_count_;
  }

  void unpack(const comm_thread::TeamThread& thread, solver::SweepState state,
              std::size_t neighbour, std::span<const double> in) override {
    const auto [begin, end] = comm_thread::share_of(std::ssize(in), thread.index, thread.count);
    const std::size_t place = sides_[neighbour] == 0 ? 0 : depth_ + count();
    const auto copy_to = [&, first = begin, last = end](std::vector<double>& values) {
      std::copy(in.data() + first, in.data() + last, values.data() + place + first);
    };
    if (state == solver::SweepState::recorded) return copy_to(record_);
    for (auto& values : values_) copy_to(values);
  }

  void sweep(const comm_thread::TeamThread& thread, solver::SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override {
    if (thread.is_primary() && part == solver::SweepPart::interior) ++interior_count_;
    sweep_range(thread, 0, std::ssize(values()), part, residual_square);
  }

  void finish_sweep() override {
    std::swap(values_[0], values_[1]);
    ++finished_count_;
  }

  void add_residual(const comm_thread::TeamThread& thread, solver::SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override {
    const double* const values = begin_of(state);
    const auto share = comm_thread::share_of(own_.end - own_.begin, thread.index, thread.count);
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const double r = chain_.residual(own_.begin + i, values[i - 1], values[i], values[i + 1]);
      residual_square.add(r * r);
    }
  }

  void advance(const comm_thread::TeamThread& thread, int sweep_count) override {
    if (thread.is_primary()) ++advance_count_;
    for (int left = sweep_count; left-- > 0;) {
      sweep_range(thread, has(0) ? -left : 0, std::ssize(values()) + (has(1) ? left : 0),
                  solver::SweepPart::all, nullptr);
      thread.barrier();
      if (thread.is_primary()) finish_sweep();
      thread.barrier();
    }
  }

  void record(const comm_thread::TeamThread& thread) override {
    if (thread.is_primary()) record_ = values_[0];
  }

  std::int64_t pack_count() const { return pack_count_; }
  std::int64_t finished_count() const { return finished_count_; }
  std::int64_t advance_count() const { return advance_count_; }
  std::int64_t interior_count() const { return interior_count_; }

 private:
  std::size_t count() const { return static_cast<std::size_t>(own_.end - own_.begin); }
  bool has(std::size_t side) const {
    return std::find(sides_.begin(), sides_.end(), side) != sides_.end();
  }

  /// The first own point.
  const double* begin_of(solver::SweepState state) const {
    return (state == solver::SweepState::current ? values_[0] : record_).data() + depth_;
  }

  bool is_boundary(std::int64_t i) const {
    return (i == 0 && has(0)) || (i + 1 == std::ssize(values()) && has(1));
  }

  /// `begin`, `end`: of own points; beyond them in the halo.
  void sweep_range(const comm_thread::TeamThread& thread, std::int64_t begin, std::int64_t end,
                   solver::SweepPart part, comm_thread::ExactAccumulator* residual_square) {
    const auto share = comm_thread::share_of(end - begin, thread.index, thread.count);
    const double* const old = values_[0].data() + depth_;
    for (std::int64_t i = begin + share.begin; i < begin + share.end; ++i) {
      if (part != solver::SweepPart::all && is_boundary(i) != (part == solver::SweepPart::boundary))
        continue;
      const std::int64_t point = own_.begin + i;
      *(values_[1].data() + depth_ + i) = chain_.sweep(point, old[i - 1], old[i + 1]);
      if (!residual_square) continue;
      const double r = chain_.residual(point, old[i - 1], old[i], old[i + 1]);
      residual_square->add(r * r);
    }
  }

  const comm_thread::ComputeTeam& team_;
  Chain chain_;
  std::size_t depth_;
  comm_thread::Share own_;
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  std::vector<std::size_t> sides_;  // of the neighbours: 0 before, 1 after
  std::array<std::vector<double>, 2> values_;  // current, new
  std::vector<double> record_;
  mutable std::int64_t pack_count_ = 0;
  std::int64_t finished_count_ = 0;
  std::int64_t advance_count_ = 0;
  std::int64_t interior_count_ = 0;  // sweeps of it alone
};

/// Reference: a whole chain solved by a loop on one thread.
struct ChainReference {
  std::vector<double> values;
  std::int64_t iterations = 0;
  std::vector<double> residuals;  // relative, of the checks
};

inline double norm_of_b(const Chain& chain) {
  comm_thread::ExactAccumulator sum;
  for (std::int64_t i = 0; i < chain.point_count; ++i) sum.add(chain.b(i) * chain.b(i));
  return std::sqrt(sum.rounded());
}

/// Sweeps a whole chain as SyncIteration should.
inline ChainReference sweep_serially(const Chain& chain, double tolerance,
                                     std::int64_t max_iterations, std::int64_t check_period) {
  ChainReference result;
  std::vector<double> x(static_cast<std::size_t>(chain.point_count) + 2), y = x;
  while (true) {
    comm_thread::ExactAccumulator sum;
    for (std::int64_t i = 0; i < chain.point_count; ++i) {
      const auto place = static_cast<std::size_t>(i) + 1;
      const double r = chain.residual(i, x[place - 1], x[place], x[place + 1]);
      sum.add(r * r);
      y[place] = chain.sweep(i, x[place - 1], x[place + 1]);
    }
    const bool is_last = result.iterations == max_iterations;
    if (result.iterations % check_period == 0 || is_last) {
      result.residuals.push_back(std::sqrt(sum.rounded()) / norm_of_b(chain));
      if (is_last || result.residuals.back() < tolerance) break;
    }
    std::swap(x, y);
    ++result.iterations;
  }
  result.values.assign(x.begin() + 1, x.end() - 1);
  return result;
}

}  // namespace weft::tests
