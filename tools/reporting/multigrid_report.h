#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "solver/krylov/method.h"
#include "solver/multigrid/cycle.h"
#include "solver/multigrid/multigrid_method.h"
#include "solver/precondition/preconditioner.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The grids of multigrid, where it is the method of a solve or its preconditioner.
class MultigridGrids {
 public:
  /// Lifetime: both outlive it. `preconditioner`: may be null.
  MultigridGrids(solver::KrylovMethod& method, solver::Preconditioner* preconditioner);

  /// False where the solve has no multigrid.
  bool exist() const { return method_ || cycle_; }
  /// Times count from now on. Thread: the main thread, outside the team.
  void forget_times();
  /// What each grid took: sizes, ranks, time, memory traffic by the model, and halos, whose
  /// exchange alone it measures. Null where there is no multigrid. Collective; complete on rank 0.
  /// Thread: as above.
  Json collective_report(const Job& job, comm_thread::CommThread& comm_thread);

 private:
  solver::MultigridMethod* method_ = nullptr;
  solver::Cycle* cycle_ = nullptr;  // of a preconditioner
};

/// A table of the grids for people.
void print_multigrid(const Json& multigrid);

}  // namespace weft::tools
