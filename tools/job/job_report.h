#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/job/program_job.h"

namespace weft::tools {

/// The JSON report that every command writes, with the same schema (docs/reference/json.md): keys
/// keep the order in which they are documented.
using Json = nlohmann::ordered_json;

/// The number of a field, to be multiplied by what makes seconds milliseconds.
inline double number(const Json& field) { return field.get<double>(); }

/// A report with every documented field in its place; null where `command` has nothing to say.
/// Who runs, with which options, and the memory that the ranks took at most so far are filled in.
/// Collective; complete on rank 0.
Json collective_start_report(const Job& job, const std::string& command);

/// The command that the program runs, such as "study cg"; empty before it is known. Thread: the
/// main thread.
std::string& command_in_effect();

/// Options of the command as they apply, given or by default, `{OPTION: text}`; the program fills
/// them in when it has parsed the command line. Thread: the main thread.
Json& options_in_effect();

/// "peak memory  120 MB per rank, 240 MB in all; …, 9000 page faults" and a line end.
std::string peak_memory(const Json& report);

/// Where each rank's threads are and what is wrong with that. Collective; complete on rank 0.
Json collective_placement_report(const Job& job);

/// "1 rank x 2 threads", for people.
std::string ranks_and_threads(const Json& report);

/// Hosts, processor, MPI, OpenMP, compiler, commit, thread level. Collective; complete on rank 0.
Json collective_environment_report(const Job& job);

/// Minimum, mean and maximum over the ranks. Collective.
Json collective_spread(const Job& job, double value);

/// The placement's findings as lines for people, each once: "warning: …".
std::string findings_as_text(const Json& placement);
/// Prints those of a report behind an empty line, if there are any.
void print_findings(const Json& report);

/// Where reports go: refuses an unwritable path before any work is done, and writes at the end,
/// to a new file first, so that nothing half-written is ever found.
class ReportFile {
 public:
  /// `path`: empty for none, "-" for standard output.
  /// Collective. Throws comm_thread::InputError on every rank.
  ReportFile(const Job& job, std::string path);

  /// Whether this rank prints a summary, too: rank 0, unless standard output belongs to the report.
  bool is_beside_summary() const { return job_.is_root() && !is_standard_output(); }

  /// Rank 0 writes. Returns `is_beside_summary()`. Collective. Throws comm_thread::InputError on
  /// every rank.
  bool collective_write(const Json& report) const;

 private:
  bool is_standard_output() const { return path_ == "-"; }

  const Job& job_;
  std::string path_;
};

}  // namespace weft::tools

/// Fields of reports as arguments of fmt: texts without quotes, numbers in the given format.
/// Whole numbers have no fraction unless the format has a letter for them.
template <>
struct fmt::formatter<weft::tools::Json> {
  constexpr auto parse(fmt::format_parse_context& context) {
    const char* end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    format_ = {context.begin(), static_cast<std::size_t>(end - context.begin())};
    return end;
  }
  fmt::appender format(const weft::tools::Json& field, fmt::format_context& context) const;

 private:
  std::string_view format_;  // what follows the colon
};
