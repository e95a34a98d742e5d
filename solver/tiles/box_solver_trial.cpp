#include "solver/tiles/box_solver_trial.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "perfmodel/stopwatch.h"

namespace weft::solver {
namespace {

constexpr int samples = 7;

double seconds_of_solve(BoxSolverKind kind, const RobinBox& box, const BoxFrame& given,
                        const BoxFrame& wanted) {
  const auto solver = make_box_solver(kind, box, 1);
  double least = std::numeric_limits<double>::infinity();
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> right_hand_side(box.point_count(), 1.0);
    const perfmodel::Stopwatch watch;
    solver->solve(0, right_hand_side, given, wanted);
    least = std::min(least, watch.seconds());
  }
  return least;
}

}  // namespace

BoxSolverTrial collective_try_box_solvers(const comm_thread::Communicator& communicator,
                                          const RobinBox& box, const BoxFrame& given,
                                          const BoxFrame& wanted) {
  BoxSolverTrial own;
  comm_thread::collective_attempt(communicator, [&] {
    own.cholmod_seconds = seconds_of_solve(BoxSolverKind::cholmod, box, given, wanted);
    own.tensor_seconds = seconds_of_solve(BoxSolverKind::tensor, box, given, wanted);
  });
  return {communicator.sum(own.cholmod_seconds) / communicator.size(),
          communicator.sum(own.tensor_seconds) / communicator.size()};
}

}  // namespace weft::solver
