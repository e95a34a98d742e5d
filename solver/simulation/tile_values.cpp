#include "solver/simulation/tile_values.h"

#include "comm_thread/engine/exact_accumulator.h"

namespace weft::solver {

TileValues::TileValues(const comm_thread::ComputeTeam& team, const SchwarzProblem& problem,
                       const TilePartition& partition, int rank, double tolerance)
    : barrier_(1, comm_thread::WaitPolicy::yield),
      thread_{.index = 0, .count = 1, .barrier_of_team = &barrier_},
      tiles_(team, problem, partition, rank,
             {.tolerance = tolerance, .local_solver = BoxSolverKind::tensor}) {}

double TileValues::sweep(bool contributes) {
  tiles_.sweep(thread_, SweepPart::all, nullptr);
  // Residuals as last computed: those that this sweep has solved for.
  const auto unconverged = static_cast<double>(contributes ? tiles_.unconverged_count(0) : 0);
  tiles_.finish_sweep();
  return unconverged;
}

double TileValues::square(SweepState state) {
  comm_thread::ExactAccumulator sum;
  tiles_.add_residual(thread_, state, sum);
  return sum.rounded();
}

double TileValues::contribution(SweepState state) {
  square(state);
  return static_cast<double>(tiles_.unconverged_count(0));
}

double TileValues::residual_square() { return square(SweepState::current); }

}  // namespace weft::solver
