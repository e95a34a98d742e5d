#pragma once

#include <string>

#include "solver/checkpoint/checkpoints.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// What became of the checkpoints of a solve; times of the slowest rank. `path`: empty where none
/// was asked for. Collective.
Json collective_checkpoint_report(const Job& job, const std::string& path,
                                  const solver::Checkpoints::Report& checkpoints);

/// The lines of the summary. `solve_seconds`: what the times are a share of.
void print_checkpoints(const Json& checkpoints, double solve_seconds);

}  // namespace weft::tools
