#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/precondition/preconditioner.h"

namespace weft::solver {

/// The power of two by which a preconditioner in single precision multiplies the residuals of a
/// solve, so that they are in its range whatever the units of A and b are. It follows from the
/// first residual that is not zero: later ones are smaller, by less than single precision can hold.
/// Where nothing over- or underflows it changes no bits. Each of several vectors that are solved
/// for at once has a unit of its own. Lifetime: the communicator outlives it.
class SolveUnit {
 public:
  /// `thread_count`: of the team.
  SolveUnit(const comm_thread::Communicator& communicator, int thread_count);

  /// The power of two that brings `largest` into the range of `scale`; 1 where `largest` is zero or
  /// not finite.
  static double of(double largest, double scale);

  /// The next residual of each vector decides. Thread: the main thread, outside the team.
  void begin_solve() { units_.fill(0); }

  /// Chooses the unit of `vector` where it is not yet known. `find_largest`: the largest magnitude
  /// among the entries of this thread; `scale`: what the largest of all ranks becomes, up to a
  /// factor of 4. Thread: every thread of the team, after a barrier. Collective. Throws
  /// comm_thread::MpiError.
  template <class FindLargest>
  void collective_choose(const comm_thread::TeamThread& thread, int vector, double scale,
                         const FindLargest& find_largest) {
    if (unit(vector) == 0) collective_choose_by(thread, vector, scale, find_largest());
  }

  bool is_chosen(int vector) const { return unit(vector) != 0; }
  double value(int vector) const { return unit(vector) == 0 ? 1 : unit(vector); }

 private:
  double unit(int vector) const { return units_[static_cast<std::size_t>(vector)]; }
  void collective_choose_by(const comm_thread::TeamThread& thread, int vector, double scale,
                            double largest);

  const comm_thread::Communicator& communicator_;
  std::vector<double> largest_;  // of each thread
  std::array<double, Preconditioner::most_vectors> units_{};  // 0 before they are chosen
};

}  // namespace weft::solver
