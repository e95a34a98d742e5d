#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The options that say on what a command runs and where its report goes; shared by the commands.
struct SystemOptions : ThreadOptions {
  std::string problem;
  std::string json_path;
  std::string trace_path;
  bool is_dry_run = false;  // only the forecast of memory
};

/// PROBLEM.
CLI::Option& add_problem_option(CLI::App& command, SystemOptions& options);
/// --operator.
void add_operator_option(CLI::App& command, std::string& kind);
/// --threads, --strict-placement, --pin-beyond-mask, --json.
void add_job_options(CLI::App& command, SystemOptions& options);
/// --dry-run.
void add_dry_run_option(CLI::App& command, SystemOptions& options);
/// --trace.
void add_trace_option(CLI::App& command, SystemOptions& options);

}  // namespace weft::tools
