#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/report/iteration_report.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

// Common parts of the reports of all commands that sweep (docs/reference/json.md). Collective where
// noted; then complete on rank 0.

/// Smallest, mean and largest number of sweeps, and those of everybody. `own`: of this rank.
Json collective_iterations(const Job& job, const std::vector<std::int64_t>& own);

/// Times of the phases.
Json collective_times(const Job& job, const solver::IterationReport& report);

/// Messages, their age, and how the end was found.
Json collective_asynchrony(const Job& job, const solver::IterationReport& report);

/// Pairs of seconds and residual. Complete on every rank.
Json history_of(const solver::IterationReport& report);

/// Local residual histories: `rank` and `points`, of at most 16 ranks, evenly chosen.
Json collective_local_histories(const Job& job, const solver::IterationReport& report);

/// "150", or "138 to 228, 190.3 on average,".
std::string iteration_range(const Json& iterations);

/// The asynchrony of a run for people.
void print_asynchrony(const Json& run);

/// The times of a run for people. `unit`: what an iteration is called.
void print_times(const Json& run, const std::string& unit);

}  // namespace weft::tools
