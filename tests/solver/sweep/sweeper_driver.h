#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"

namespace weft::tests {

/// Drives a sweeper as simply as possible: exchange, sweep, and so on. Collective, all of it.
class SweeperDriver {
 public:
  enum class Halo { fresh, old };
  enum class Parts { one, two };

  SweeperDriver(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                solver::Sweeper& sweeper)
      : communicator_(communicator.collective_duplicate()),
        comm_thread_(comm_thread),
        sweeper_(sweeper),
        exchange_(communicator_, sweeper.neighbours(), 0),
        squares_(communicator_, comm_thread_, sweeper.team().thread_count(), 1) {
    communicator_.barrier();  // both ends of every pair exist
  }

  /// Returns ‖b − A·x‖² of the values before the sweep.
  double sweep(Halo halo = Halo::fresh, Parts parts = Parts::one) {
    return sum([&](const comm_thread::TeamThread& thread) {
      make(thread, halo, parts, &squares_.part(thread.index));
      finish(thread);
    });
  }

  /// The same, without squares.
  void sweep_only(Halo halo = Halo::fresh, Parts parts = Parts::one) {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) {
      make(thread, halo, parts, nullptr);
      finish(thread);
    });
  }

  /// The same as `sweep`, but the new values are not taken.
  double sweep_in_vain() {
    return sum([&](const comm_thread::TeamThread& thread) {
      make(thread, Halo::fresh, Parts::one, &squares_.part(thread.index));
    });
  }

  /// A sweep, after which tiles are judged as far as need be.
  void sweep_and_judge() {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) {
      make(thread, Halo::fresh, Parts::one, nullptr);
      sweeper_.tile_judge()->judge(thread);
      finish(thread);
    });
  }

  /// `count` sweeps from one fresh halo.
  void advance(int count) {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) {
      refresh(thread, solver::SweepState::current);
      sweeper_.advance(thread, count);
    });
  }

  /// ‖b − A·x‖².
  double residual_square(solver::SweepState state = solver::SweepState::current) {
    return sum([&](const comm_thread::TeamThread& thread) {
      refresh(thread, state);
      sweeper_.add_residual(thread, state, squares_.part(thread.index));
    });
  }

  void record() {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) { sweeper_.record(thread); });
  }

  /// ‖b − A·x‖² of what was recorded.
  double residual_square_of_record() { return residual_square(solver::SweepState::recorded); }

  /// Sweeps until ‖b − A·x‖ < tolerance·‖b‖; returns how many it took, at most `limit`.
  int sweeps_to(double tolerance, double b_norm, int limit) {
    for (int count = 0; count < limit; ++count)
      if (std::sqrt(sweep()) < tolerance * b_norm) return count;
    return limit;
  }

 private:
  template <class Work>
  double sum(const Work& work) {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) {
      work(thread);
      squares_.collective_reduce(thread);
    });
    return squares_.result();
  }

  void make(const comm_thread::TeamThread& thread, Halo halo, Parts parts,
            comm_thread::ExactAccumulator* squares) {
    using solver::SweepPart;
    const bool is_split = parts == Parts::two;
    if (halo == Halo::fresh) pack(thread, solver::SweepState::current);
    thread.barrier();
    if (is_split) sweeper_.sweep(thread, SweepPart::interior, squares);
    if (halo == Halo::fresh) unpack(thread, solver::SweepState::current);
    sweeper_.sweep(thread, is_split ? SweepPart::boundary : SweepPart::all, squares);
  }

  void finish(const comm_thread::TeamThread& thread) {
    thread.barrier();
    if (thread.is_primary()) sweeper_.finish_sweep();
    thread.barrier();
  }

  void refresh(const comm_thread::TeamThread& thread, solver::SweepState state) {
    pack(thread, state);
    unpack(thread, state);
  }

  void pack(const comm_thread::TeamThread& thread, solver::SweepState state) {
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      sweeper_.pack(
          thread, state, i,
          exchange_.send_buffer().subspan(static_cast<std::size_t>(neighbours[i].send_begin),
                                          static_cast<std::size_t>(neighbours[i].send_count)));
  }

  void unpack(const comm_thread::TeamThread& thread, solver::SweepState state) {
    thread.barrier();
    if (thread.is_primary() && exchange_.has_neighbours()) exchange_.post(comm_thread_).wait();
    thread.barrier();
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      sweeper_.unpack(
          thread, state, i,
          exchange_.received().subspan(static_cast<std::size_t>(neighbours[i].receive_begin),
                                       static_cast<std::size_t>(neighbours[i].receive_count)));
    thread.barrier();
  }

  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  solver::Sweeper& sweeper_;
  comm_thread::HaloExchange<double> exchange_;
  comm_thread::ReproducibleSum squares_;
};

}  // namespace weft::tests
