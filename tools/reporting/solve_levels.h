#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "solver/krylov/method.h"
#include "solver/levels/level_report.h"
#include "solver/precondition/preconditioner.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The levels of a solve, where its method or its preconditioner has some.
class SolveLevels {
 public:
  /// Lifetime: both outlive it. `preconditioner`: may be null.
  SolveLevels(solver::KrylovMethod& method, solver::Preconditioner* preconditioner);

  /// Times count from now on. Thread: the main thread, outside the team.
  void forget_times();
  /// Sizes, ranks, memory, messages and time of each level. Measures how long its exchanges take
  /// alone. Levels of matrices also say what set-up took: `setup_seconds`, of the preconditioner.
  /// Null where there are no levels. Collective; complete on rank 0. Thread: as above.
  Json collective_report(const Job& job, comm_thread::CommThread& comm_thread,
                         double setup_seconds = 0);

 private:
  solver::Levels* levels_;
};

/// A table of what SolveLevels reports, for people.
void print_levels(const Json& report);

}  // namespace weft::tools
