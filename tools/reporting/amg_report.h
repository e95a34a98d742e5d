#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "solver/amg/hierarchy_report.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The levels of algebraic multigrid: sizes, ranks, memory, messages and time. Measures how long
/// the exchanges of each level take alone. `setup_seconds`: of the preconditioner. Collective;
/// complete on rank 0. Thread: the main thread, outside the team.
Json collective_amg_report(const Job& job, comm_thread::CommThread& comm_thread,
                           const solver::amg::HierarchyReport& hierarchy, double setup_seconds);

/// A table of the levels for people.
void print_amg(const Json& amg);

}  // namespace weft::tools
