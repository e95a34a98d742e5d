#pragma once

#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/termination/contribution_history.h"
#include "solver/report/iteration_report.h"

namespace weft::solver {

/// The residual of all ranks together at up to 64 moments from 0 to the latest `end_seconds`: from
/// what each of them had contributed last, in the end `end_residual`. Moments before every rank had
/// contributed are left out.
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
