#pragma once

#include <functional>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/termination/contribution_history.h"
#include "solver/report/iteration_report.h"

namespace weft::solver {

/// The residual at up to 64 moments from 0 to `end_seconds`, in the end `end_residual`.
/// `square_at`: the sum of the squares of residuals that was known then, infinite before all have
/// contributed: such moments are left out.
std::vector<HistoryPoint> residual_history(const std::function<double(double seconds)>& square_at,
                                           double end_seconds, double end_residual, double b_norm);

/// As residual_history, of all ranks together, up to the latest `end_seconds`: from what each of
/// them had contributed last.
/// `contributions`: squares of residuals; seconds since a moment that is the same on all ranks.
/// Collective; the same on every rank.
std::vector<HistoryPoint> collective_residual_history(
    const comm_thread::Communicator& communicator,
    const comm_thread::ContributionHistory& contributions, double end_seconds, double end_residual,
    double b_norm);

/// ‖b − A·x‖/‖b‖ over this rank's own rows: its first contribution, its last, and up to 62 between.
std::vector<HistoryPoint> own_residual_history(
    const comm_thread::ContributionHistory& contributions, double b_norm);

}  // namespace weft::solver
