#pragma once

#include <cstdint>
#include <string>

#include "library/include/weft/weft.hpp"
#include "library/measure/communication_cost.h"
#include "solver/krylov/method_facts.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// What `weft solve` measures and knows of a solve besides its description.
struct SolveFacts {
  std::string problem;
  double rows = 0;
  double nonzeros = 0;
  double matrix_bytes = 0;  // as stored, all ranks
  std::int64_t boundary_rows = 0;
  Json ordering;  // null: rows as given
  int restart = 0;  // of GMRES: iterations of a cycle; else 0
  Json choices;  // what else was chosen, where weft chose: choices_report; else null
  std::string command;  // that names what was chosen
  std::string mode_choice;  // why this mode, where it was chosen
  const solver::SchwarzPreconditioner* schwarz = nullptr;  // where that is the preconditioner
  double preconditioner_setup_seconds = 0;
  double schwarz_seconds = 0;  // of the solve, this rank's
  Json multigrid;  // its grids; null where there are none
  Json amg;  // the levels of that preconditioner; null where there are none
  const solver::KrylovEntry* entry = nullptr;  // of the method
  solver::MethodNeeds needs{};
  library::CommunicationCost communication;
  double total_seconds = 0;
};

/// `description`: of `solve`. Collective.
Json collective_solve_report(const Job& job, const SolveOptions& options, const SolveFacts& facts,
                             const Report& description, const solver::SolveReport& solve);

void print_solve_summary(const Json& report);

}  // namespace weft::tools
