#pragma once

#include <array>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/include/weft/weft.hpp"
#include "solver/sweep/sweeper.h"

namespace weft::library {

/// An iteration of the caller as the drivers of sweeps see it. The caller's functions run on the
/// primary thread. Lifetime: `team` and the values that `use` was given outlive it.
class CallerSweeper final : public solver::Sweeper {
 public:
  /// Asks the neighbours whether they expect the same. Collective. Throws comm_thread::InputError
  /// on every rank.
  CallerSweeper(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
                UserIteration user);

  /// Begins with these values.
  void use(std::span<const double> x);
  std::span<const double> values() const { return current_.x; }
  /// How much the last sweep has changed x: magnitudes of the largest difference and of the largest
  /// value, of all ranks. Collective. Thread: the main thread, outside the team.
  std::array<double, 2> collective_last_change(const comm_thread::Communicator& communicator) const;

  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  void pack(const comm_thread::TeamThread& thread, solver::SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, solver::SweepState state,
              std::size_t neighbour, std::span<const double> in) override;
  void sweep(const comm_thread::TeamThread& thread, solver::SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { current_.x.swap(next_); }
  void add_residual(const comm_thread::TeamThread& thread, solver::SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;
  void record(const comm_thread::TeamThread& thread) override;

 private:
  struct State {
    std::vector<double> x;
    std::vector<double> halo;
  };
  State& of(solver::SweepState state) {
    return state == solver::SweepState::current ? current_ : recorded_;
  }

  const comm_thread::ComputeTeam& team_;
  UserIteration user_;
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  State current_;
  State recorded_;
  std::vector<double> next_;  // between sweeps the values before the current ones
};

}  // namespace weft::library
