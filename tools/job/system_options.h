#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/matrix/matrix_format.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition_by.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The options that say which linear system, on what and where the report goes; shared by the
/// commands.
struct SystemOptions : ThreadOptions {
  std::string problem;
  std::string partition = "rows";
  std::string order = "given";  // empty: not named; see `order_of`
  std::string format = "auto";
  std::string triangle;  // mirrored or as-is; empty: not given
  std::string base;  // 0 or 1; empty: not given
  std::string json_path;
  std::string trace_path;
  bool is_dry_run = false;  // only the forecast of memory

  /// Where no order is named: `auto` for a file, else as given.
  std::string order_of(const spmv::Problem& rows) const {
    return !order.empty() ? order : rows.is_file() ? "auto" : "given";
  }
  /// What is made equal where no graph partition is asked for.
  spmv::PartitionBy parsed_partition() const {
    return partition == "nonzeros" ? spmv::PartitionBy::nonzeros : spmv::PartitionBy::rows;
  }
  spmv::MatrixFormat parsed_format() const { return *spmv::parse_matrix_format(format); }
};

/// What `parse` complains of; empty if it does not: the check of an option.
template <class Parse>
std::string fault_of(const Parse& parse) {
  try {
    parse();
  } catch (const comm_thread::InputError& error) {
    return error.what();
  }
  return "";
}

/// The check of an option that takes a number above 0.
std::string fault_of_positive(const std::string& text);

/// An option that takes one of `choices`.
void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& choices, const std::string& help);

/// An option that takes several of `known`, separated by commas.
void add_choices(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::vector<std::string>& known, const std::string& help);

/// --triangle, --base.
void add_entry_options(CLI::App& command, SystemOptions& options);
/// PROBLEM, --partition, --order, --triangle, --base.
void add_problem_options(CLI::App& command, SystemOptions& options);
/// --operator.
void add_operator_option(CLI::App& command, std::string& kind);
/// --format.
void add_format_option(CLI::App& command, SystemOptions& options);
/// --threads, --strict-placement, --pin-beyond-mask, --json.
void add_job_options(CLI::App& command, SystemOptions& options);
/// --dry-run.
void add_dry_run_option(CLI::App& command, SystemOptions& options);
/// --trace.
void add_trace_option(CLI::App& command, SystemOptions& options);

}  // namespace weft::tools
