#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/partition.h"
#include "spmv/sums/block_dot.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::tests {

using Vector = std::vector<double>;

/// The ranks, threads and communication thread of a test, and a matrix on them.
class MatrixSystem {
 public:
  MatrixSystem(const comm_thread::Communicator& communicator, const ReferenceMatrix& reference,
               int threads = thread_count())
      : communicator_(communicator),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = session().thread_level()}),
        operator_(communicator, comm_thread_, team_,
                  collective_distribute(
                      communicator, team_, reference,
                      spmv::RowPartition::by_rows(std::ssize(reference), communicator.size()))) {}

  const comm_thread::Communicator& communicator() const { return communicator_; }
  comm_thread::CommThread& comm_thread() { return comm_thread_; }
  spmv::SparseOperator& op() { return operator_; }

  /// This rank's part of a whole vector.
  Vector part_of(const Vector& whole) const {
    const auto& matrix = operator_.matrix().matrix();
    return Vector(whole.begin() + matrix.first_row(),
                  whole.begin() + matrix.first_row() + matrix.rows.row_count);
  }

 private:
  const comm_thread::Communicator& communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  spmv::SparseOperator operator_;
};

/// r·r in the one order of weft: row blocks, then an exact sum.
inline double square(const Vector& r) {
  const spmv::GlobalIndex row_count = std::ssize(r);
  const spmv::GlobalIndex block = spmv::RowPartition::block_size(row_count);
  comm_thread::ExactAccumulator sum;
  for (spmv::GlobalIndex row = 0; row < row_count; row += block)
    sum.add(spmv::block_dot(r.data() + row, r.data() + row, std::min(block, row_count - row)));
  return sum.rounded();
}

/// Drives a sweeper as simply as possible: exchange, sweep, and so on.
class LockStep {
 public:
  enum class Halo { fresh, old };
  enum class Parts { one, two };

  LockStep(MatrixSystem& system, solver::Sweeper& sweeper)
      : communicator_(system.communicator().collective_duplicate()),
        comm_thread_(system.comm_thread()),
        sweeper_(sweeper),
        halo_(halo_count(sweeper)),
        exchange_(communicator_, sweeper.neighbours(), halo_, 0),
        squares_(communicator_, comm_thread_, sweeper.team().thread_count(), 1) {}

  /// Returns ‖b − A·x‖² of the values before the sweep. Collective.
  double sweep(Halo halo = Halo::fresh, Parts parts = Parts::one) {
    return sweep_and(halo, parts, true);
  }

  /// The same, but the new values are not taken. Collective.
  double sweep_in_vain() { return sweep_and(Halo::fresh, Parts::one, false); }

  /// ‖b − A·x‖². Collective.
  double residual_square() {
    run([&](const comm_thread::TeamThread& thread) {
      pack(thread, false);
      exchange(thread);
      unpack(thread);
      sweeper_.add_residual(thread, squares_.part(thread.index));
    });
    return squares_.result();
  }

  void record() {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) { sweeper_.record(thread); });
  }

  /// ‖b − A·x‖² of what was recorded. Collective.
  double residual_square_of_record() {
    run([&](const comm_thread::TeamThread& thread) {
      pack(thread, true);
      exchange(thread);
      sweeper_.add_residual_of_record(thread, halo_, squares_.part(thread.index));
    });
    return squares_.result();
  }

  /// Sweeps until ‖b − A·x‖ < tolerance·‖b‖; returns how many it took, at most `limit`. Collective.
  int sweeps_to(double tolerance, double b_norm, int limit) {
    for (int count = 0; count < limit; ++count)
      if (std::sqrt(sweep()) < tolerance * b_norm) return count;
    return limit;
  }

 private:
  static std::size_t halo_count(const solver::Sweeper& sweeper) {
    std::int64_t count = 0;
    for (const auto& neighbour : sweeper.neighbours()) count += neighbour.receive_count;
    return static_cast<std::size_t>(count);
  }

  template <class Work>
  void run(const Work& work) {
    sweeper_.team().run([&](const comm_thread::TeamThread& thread) {
      work(thread);
      squares_.collective_reduce(thread);
    });
  }

  double sweep_and(Halo halo, Parts parts, bool is_taken) {
    using solver::SweepPart;
    run([&](const comm_thread::TeamThread& thread) {
      auto& squares = squares_.part(thread.index);
      if (halo == Halo::fresh) pack(thread, false);
      thread.barrier();
      if (parts == Parts::two) sweeper_.sweep(thread, SweepPart::interior, &squares);
      if (halo == Halo::fresh) {
        exchange(thread);
        unpack(thread);
      }
      sweeper_.sweep(thread, parts == Parts::two ? SweepPart::boundary : SweepPart::all, &squares);
      thread.barrier();
      if (is_taken && thread.is_primary()) sweeper_.finish_sweep();
    });
    return squares_.result();
  }

  void pack(const comm_thread::TeamThread& thread, bool is_record) {
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const auto out =
          exchange_.send_buffer().subspan(static_cast<std::size_t>(neighbours[i].send_begin),
                                          static_cast<std::size_t>(neighbours[i].send_count));
      if (is_record)
        sweeper_.pack_record(thread, i, out);
      else
        sweeper_.pack(thread, i, out);
    }
  }

  void exchange(const comm_thread::TeamThread& thread) {
    thread.barrier();
    if (thread.is_primary() && exchange_.has_neighbours()) exchange_.post(comm_thread_).wait();
    thread.barrier();
  }

  void unpack(const comm_thread::TeamThread& thread) {
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      sweeper_.unpack(
          thread, i,
          std::span(halo_).subspan(static_cast<std::size_t>(neighbours[i].receive_begin),
                                   static_cast<std::size_t>(neighbours[i].receive_count)));
    thread.barrier();
  }

  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  solver::Sweeper& sweeper_;
  Vector halo_;
  comm_thread::HaloExchange exchange_;
  comm_thread::ReproducibleSum squares_;
};

}  // namespace weft::tests
