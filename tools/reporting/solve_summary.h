#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "solver/krylov/method_facts.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"
#include "spmv/matrix/storage_trial.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/measure/communication_cost.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// Data for the report of a solve, besides the solve itself.
struct SolveFacts {
  std::string problem;
  double rows = 0;
  double nonzeros = 0;
  double matrix_bytes = 0;  // as stored, all ranks
  std::string matrix_format;
  std::optional<spmv::StorageTimes> storage_times;  // by which it was chosen, of this rank
  std::int64_t boundary_rows = 0;
  Json ordering;  // null: rows as given
  std::string method;
  int restart = 0;  // of GMRES: iterations of a cycle; else 0
  std::string choice;  // why this method, where it was chosen
  std::vector<std::string> decisions;  // what was tried and why, where weft chose
  std::string null_space;  // what is projected out, where something is
  Json choices;  // what else was chosen, where weft chose: choices_report; else null
  std::string command;  // that names what was chosen
  std::string mode_choice;  // why this mode, where it was chosen
  bool has_jacobi = false;
  const solver::SchwarzPreconditioner* schwarz = nullptr;  // where that is the preconditioner
  double preconditioner_setup_seconds = 0;
  double schwarz_seconds = 0;  // of the solve, this rank's
  Json multigrid;  // its grids; null where there are none
  Json amg;  // the levels of that preconditioner; null where there are none
  const solver::KrylovEntry* entry = nullptr;  // of the method
  solver::MethodNeeds needs{};
  CommunicationCost communication;
  double setup_seconds = 0;
  double total_seconds = 0;
};

/// Collective.
Json collective_solve_report(const Job& job, const SolveOptions& options, const SolveFacts& facts,
                             const solver::SolveReport& solve);

void print_solve_summary(const Json& report);

}  // namespace weft::tools
