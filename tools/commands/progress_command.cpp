#include "tools/commands/progress_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/probe/overlap_result.h"
#include "comm_thread/probe/progress_probe.h"
#include "comm_thread/probe/progress_verdict.h"
#include "library/measure/progress_measurement.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/job/system_options.h"

namespace weft::tools {
namespace {

using comm_thread::CommCore;
using comm_thread::InputError;
using comm_thread::OverlapResult;
using comm_thread::ProgressMethod;
using comm_thread::ProgressOperation;
using comm_thread::ProgressProbe;
using comm_thread::WaitPolicy;

constexpr int exit_code_wrong_contents = 1;
constexpr std::size_t largest_size = 1'000'000'000;
constexpr std::size_t most_ranks_shown = 4;
constexpr std::array operations{ProgressOperation::isend_irecv, ProgressOperation::put_flush,
                                ProgressOperation::all_reduce,
                                ProgressOperation::neighbour_exchange};
constexpr std::array methods{ProgressMethod::plain, ProgressMethod::mpi_progress_thread,
                             ProgressMethod::communication_thread};

struct ProgressOptions : SystemOptions {
  std::vector<std::string> sizes{"4", "1k", "16k", "64k", "1M", "4M", "40M", "80M"};
  std::string max_bytes;
  int repetitions = 0;
  std::string merge_path;
  std::string no_progress_thread;  // why not
};

/// "64k" as 64000; nothing when it is no size that can be measured.
std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t factor = unit.empty()                 ? 1
                             : unit == "k" || unit == "K" ? 1'000
                             : unit == "m" || unit == "M" ? 1'000'000
                             : unit == "g" || unit == "G" ? 1'000'000'000
                                                          : 0;
  if (factor == 0 || number > largest_size / factor) return std::nullopt;
  const std::size_t bytes = number * factor;
  if (bytes < sizeof(ProgressProbe::Word) || bytes % sizeof(ProgressProbe::Word) != 0)
    return std::nullopt;
  return bytes;
}

std::size_t size_or_throw(const char* option, const std::string& text) {
  if (const auto bytes = parse_size(text)) return *bytes;
  throw InputError(std::string(option) + ": found '" + text +
                   "'; expected bytes, a multiple of 4 from 4 to 1G, such as 4, 64k or 40M");
}

/// Ascending, each once.
std::vector<std::size_t> sizes_asked_for(const ProgressOptions& options) {
  std::vector<std::size_t> sizes;
  const std::size_t limit =
      options.max_bytes.empty() ? largest_size : size_or_throw("--max-bytes", options.max_bytes);
  for (const std::string& text : options.sizes) {
    const std::size_t bytes = size_or_throw("--sizes", text);
    if (bytes <= limit) sizes.push_back(bytes);
  }
  if (sizes.empty())
    throw InputError("--max-bytes: found '" + options.max_bytes +
                     "', below all sizes; expected room for one of them");
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// True if this process was started with MPICH's progress thread.
bool has_mpi_progress_thread() {
  const char* const value = std::getenv("MPIR_CVAR_ASYNC_PROGRESS");
  const std::string setting = value ? value : "";
  return comm_thread::MpiSession::is_mpich() && !setting.empty() && setting != "0" &&
         setting != "no" && setting != "false";
}

OverlapResult result_from(const Json& row) {
  const auto operation =
      comm_thread::parse_progress_operation(row.at("operation").get<std::string>());
  const auto method = comm_thread::parse_progress_method(row.at("method").get<std::string>());
  if (!operation || method != ProgressMethod::mpi_progress_thread)
    throw std::invalid_argument("another method or operation");
  return {*operation,
          row.at("bytes").get<std::size_t>(),
          *method,
          {row.at("seconds_pure").get<double>(), row.at("seconds_compute").get<double>(),
           row.at("seconds_overlapped").get<double>()}};
}

/// The rows of an earlier run with MPICH's progress thread.
std::vector<OverlapResult> read_results(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be read; expected a report of weft progress");
  std::vector<OverlapResult> results;
  bool are_correct = false;
  try {
    const Json report = Json::parse(file);
    for (const Json& row : report.at("overlap")) results.push_back(result_from(row));
    are_correct = report.at("contents_correct").get<bool>();
  } catch (const std::exception&) {
    throw InputError(path +
                     ": found something else; expected the JSON report of a run of weft progress "
                     "with MPIR_CVAR_ASYNC_PROGRESS=1");
  }
  if (!are_correct)
    throw InputError(path + ": found wrong contents in received messages; expected a correct run");
  return results;
}

std::vector<OverlapResult> collective_read_results(const Job& job, const std::string& path) {
  std::vector<OverlapResult> results;
  comm_thread::collective_attempt(job.world(), [&] {
    if (job.is_root() && !path.empty()) results = read_results(path);
  });
  return results;
}

/// Methods that this process can measure.
std::vector<ProgressMethod> methods_here(Job& job) {
  if (has_mpi_progress_thread()) return {ProgressMethod::mpi_progress_thread};
  if (!job.comm_thread().has_thread()) return {ProgressMethod::plain};
  return {ProgressMethod::plain, ProgressMethod::communication_thread};
}

/// Reasons for missing results: {method: reason}. Null if none is missing.
Json reasons_not_measured(Job& job, const ProgressOptions& options,
                          const std::vector<OverlapResult>& results) {
  const auto is_missing = [&](ProgressMethod method) {
    return std::none_of(results.begin(), results.end(),
                        [method](const OverlapResult& result) { return result.method == method; });
  };
  Json reasons;
  if (is_missing(ProgressMethod::plain))
    reasons[name(ProgressMethod::plain)] = "this process has MPI's progress thread";
  if (is_missing(ProgressMethod::mpi_progress_thread)) {
    const std::string library = comm_thread::MpiSession::library_version();
    reasons[name(ProgressMethod::mpi_progress_thread)] =
        !comm_thread::MpiSession::is_mpich()   ? library + " has none that weft knows of"
        : options.no_progress_thread == "true" ? "not asked for (--no-progress-thread)"
        : options.no_progress_thread.empty()
            ? "it must be switched on before MPI starts; tools/run progress does that in a run of "
              "its own"
            : options.no_progress_thread;
  }
  if (is_missing(ProgressMethod::communication_thread))
    reasons[name(ProgressMethod::communication_thread)] =
        job.comm_thread().has_thread()
            ? "this process has MPI's progress thread"
            : "there is none: the MPI library gives " + name(job.session().thread_level());
  return reasons;
}

/// Measures all operations and sizes; the rows come operation by operation.
std::vector<OverlapResult> collective_measure(Job& job, const std::vector<std::size_t>& sizes,
                                              library::ProgressMeasurement& measurement) {
  std::vector<OverlapResult> results;
  ProgressLine line(job.is_root() && somebody_watches());
  const bool has_own_core = job.placement().comm_core == CommCore::own_core;
  const auto all = static_cast<double>(operations.size() * sizes.size());
  int done = 0;
  for (const ProgressOperation operation : operations)
    for (const std::size_t bytes : sizes) {
      line.show(done++ / all, name(operation) + ", " + comm_thread::bytes_as_text(bytes));
      ProgressProbe probe(job.comm_thread_world(), job.comm_thread(), operation, bytes,
                          has_own_core ? WaitPolicy::spin : WaitPolicy::yield);
      for (const ProgressMethod method : methods_here(job))
        results.push_back(
            {operation, bytes, method, measurement.collective_measure(probe, method)});
    }
  return results;
}

/// Bytes per second and direction of the largest messages.
double bandwidth_of(const std::vector<OverlapResult>& results) {
  double bandwidth = 0;
  for (const OverlapResult& result : results)  // sizes ascend
    if (result.operation == ProgressOperation::isend_irecv &&
        result.method != ProgressMethod::communication_thread)
      bandwidth = static_cast<double>(result.bytes) / result.times.pure;
  return bandwidth;
}

Json to_json(const OverlapResult& result) {
  return {{"operation", name(result.operation)},
          {"bytes", result.bytes},
          {"method", name(result.method)},
          {"overlap", overlap(result.times)},
          {"seconds_pure", result.times.pure},
          {"seconds_compute", result.times.compute},
          {"seconds_overlapped", result.times.overlapped}};
}

std::string seconds_as_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.3g} ms", 1e3 * seconds)
                        : fmt::format("{:.3g} s", seconds);
}

void print_threads(const Json& ranks) {
  std::string label = "threads";
  for (const Json& rank : ranks) {
    if (rank["rank"].get<std::size_t>() == most_ranks_shown) {
      fmt::print("             ... weft topology shows all\n");
      return;
    }
    std::vector<std::string> pus;
    for (const Json& pu : rank["compute_pus"]) pus.push_back(pu.dump());
    fmt::print("{:<13}rank {} on {}: computes on PU {}, communication thread on PU {} ({})\n",
               std::exchange(label, ""), rank["rank"], rank["host"], fmt::join(pus, ","),
               rank["communication_pu"].dump(), rank["communication_core"]);
  }
}

/// The first row for the same operation and size, by one method or by any.
const Json& first_like(const Json& row, const Json& rows, const std::string& method = "") {
  for (const Json& other : rows)
    if (other["operation"] == row["operation"] && other["bytes"] == row["bytes"] &&
        (method.empty() || other["method"] == method))
      return other;
  static const Json none;
  return none;
}

void print_cells(const Json& row) {
  if (row.is_null())
    fmt::print("{:>29}", "-");
  else
    fmt::print("{:>11}{:>10}{:>8.2f}", seconds_as_text(row["seconds_pure"].get<double>()),
               seconds_as_text(row["seconds_overlapped"].get<double>()), row["overlap"]);
}

void print_overlap_table(const Json& rows) {
  fmt::print("\n{:<28}", "");
  for (const ProgressMethod method : methods) fmt::print("{:>29}", name(method));
  fmt::print("\n{:<20}{:>8}", "operation", "size");
  for (std::size_t i = 0; i < methods.size(); ++i)
    fmt::print("{:>11}{:>10}{:>8}", "alone", "both", "overlap");
  fmt::print("\n");
  for (const Json& row : rows) {
    if (&first_like(row, rows) != &row) continue;
    fmt::print("{:<20}{:>8}", row["operation"],
               comm_thread::bytes_as_text(row["bytes"].get<std::size_t>()));
    for (const ProgressMethod method : methods) print_cells(first_like(row, rows, name(method)));
    fmt::print("\n");
  }
}

void print_progress_summary(const Json& report) {
  fmt::print("run          {}, {}\n", ranks_and_threads(report), report["environment"]["mpi"]);
  print_threads(report["placement"]["ranks"]);
  fmt::print("link         latency {}, {:.4g} MB/s in each direction\n",
             seconds_as_text(report["performance"]["latency_seconds"].get<double>()),
             1e-6 * number(report["performance"]["bandwidth_bytes_per_second"]));
  print_overlap_table(report["overlap"]);
  fmt::print(
      "\n\"both\": with a computation of 0.8 times \"alone\" meanwhile. Overlap 1 hides all of it, "
      "0 "
      "nothing.\n");
  for (const auto& [method, reason] : report["not_measured"].items())
    fmt::print("{} was not measured: {}.\n", method, reason);
  fmt::print("\nVerdict: {}.\n", report["verdict"]);
  if (!report["contents_correct"].get<bool>())
    fmt::print("SOMETHING ARRIVED WRONG: this is a defect of weft or of the MPI library.\n");
  print_findings(report);
}

int measure(const comm_thread::MpiSession& session, const ProgressOptions& options) {
  const perfmodel::Stopwatch watch;
  const std::vector<std::size_t> sizes = sizes_asked_for(options);
  Job job = collective_start_job(session, options);
  if (job.world().size() < 2)
    throw InputError("progress needs at least 2 ranks: found 1; expected --ranks 2 or more");
  const ReportFile report_file(job, options.json_path);
  std::vector<OverlapResult> results = collective_read_results(job, options.merge_path);

  const comm_thread::Latency latency = comm_thread::collective_latency(job.world());
  library::ProgressMeasurement measurement(job, options.repetitions);
  const std::vector<OverlapResult> measured = collective_measure(job, sizes, measurement);
  results.insert(results.begin(), measured.begin(), measured.end());

  Json report = collective_start_report(job, "progress");
  report["method"] = "progress";
  report["seconds"] = {{"total", watch.seconds()}};
  report["performance"] = {{"latency_seconds", latency.median},
                           {"least_latency_seconds", latency.least},
                           {"bandwidth_bytes_per_second", bandwidth_of(measured)}};
  report["contents_correct"] = measurement.contents_are_correct();
  report["overlap"] = Json::array();
  for (const OverlapResult& result : results) report["overlap"].push_back(to_json(result));
  report["not_measured"] = reasons_not_measured(job, options, results);
  report["verdict"] = comm_thread::progress_verdict(results);
  if (report_file.collective_write(report)) print_progress_summary(report);
  return measurement.contents_are_correct() ? 0 : exit_code_wrong_contents;
}

}  // namespace

void add_progress_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<ProgressOptions>();
  CLI::App& command =
      *program.add_subcommand("progress", "test which messages progress while the ranks compute");
  command.add_option("--sizes", options->sizes, "bytes that each rank sends, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("BYTES,...")
      ->capture_default_str();
  command.add_option("--max-bytes", options->max_bytes, "skip larger sizes")->type_name("BYTES");
  command
      .add_option("--repetitions", options->repetitions,
                  "samples of each time; default: as many as fit into a second, from 3 to 15")
      ->check(is_count(1, 1000000));
  command
      .add_option("--merge", options->merge_path,
                  "also show the results of an earlier run with MPIR_CVAR_ASYNC_PROGRESS=1")
      ->type_name("FILE.json");
  command.add_flag("--no-progress-thread", options->no_progress_thread,
                   "tools/run: do not make a run with MPICH's progress thread first");
  add_job_options(command, *options);
  command.footer(
      "A rank sends to the rank half of all ranks further (isend-irecv, put-flush), to both\n"
      "neighbours in the ring, half of the bytes each (neighbour-exchange), or sums over all.\n"
      "Examples:\n"
      "  tools/run progress --ranks 2\n"
      "  mpiexec.mpich -n 2 weft progress --sizes 4,64k,40M --json progress.json\n"
      "  mpiexec.mpich -n 2 -env MPIR_CVAR_ASYNC_PROGRESS 1 weft progress --json first.json\n"
      "  mpiexec.mpich -n 2 weft progress --merge first.json\n"
      "Exit code: 1 when something arrived wrong, 2 bad input.");
  command.callback([options, &command, &session, &exit_code] {
    check_needs(command, {{{"no-progress-thread"},
                           options->merge_path.empty(),
                           "with --merge, which has the results of such a run",
                           "one of them"}});
    exit_code = measure(session, *options);
  });
}

}  // namespace weft::tools
