#include "tools/job/job_report.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/node_memory.h"
#include "perfmodel/simd.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/temporary_file.h"
#include "tools/build_defs/commit.h"
#include "tools/job/launcher_record.h"

namespace weft::tools {
namespace {

/// Of reports; another one when a field changes its meaning or goes away.
constexpr int schema_version = 1;

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

Json to_json(const std::optional<comm_thread::QuotaShare>& share) {
  if (!share) return nullptr;
  return {{"cores", share->quota.cores()}, {"ranks", share->ranks}, {"file", share->quota.file}};
}

Json to_json(const std::vector<comm_thread::PlacementFinding>& findings) {
  Json list = Json::array();
  for (const auto& finding : findings)
    list.push_back({{"severity", to_string(finding.severity)}, {"text", finding.text}});
  return list;
}

}  // namespace

Json collective_start_report(const Job& job, const std::string& command) {
  Json report;
  report["schema_version"] = schema_version;
  report["command"] = command;
  for (const char* const field :
       {"problem", "method", "mode", "ranks", "threads", "status", "iterations",
        "relative_residual", "recurrence_residual", "seconds", "phases", "performance"})
    report[field] = nullptr;
  report["ranks"] = job.world().size();
  report["threads"] = job.team().thread_count();
  report["placement"] = collective_placement_report(job);
  report["environment"] = collective_environment_report(job);
  report["options"] = options_in_effect();
  report["memory"] = {{"peak_bytes", collective_spread(job, comm_thread::peak_resident_bytes())},
                      {"mpi_bytes", collective_spread(job, comm_thread::mpi_bytes())},
                      {"page_faults", collective_spread(job, comm_thread::page_fault_count())}};
  return report;
}

std::string& command_in_effect() {
  static std::string command;
  return command;
}

Json& options_in_effect() {
  static Json options = Json::object();
  return options;
}

std::string peak_memory(const Json& report) {
  const Json& peak = report["memory"]["peak_bytes"];
  return fmt::format(
      "peak memory  {} per rank, {} in all; MPI began with {}, {:.0f} page faults\n",
      comm_thread::bytes_in_words(peak["max"].get<double>()),
      comm_thread::bytes_in_words(peak["mean"].get<double>() * report["ranks"].get<int>()),
      comm_thread::bytes_in_words(report["memory"]["mpi_bytes"]["max"].get<double>()),
      report["memory"]["page_faults"]["max"].get<double>());
}

std::string ranks_and_threads(const Json& report) {
  const int ranks = report["ranks"].get<int>();
  const int threads = report["threads"].get<int>();
  return fmt::format("{} rank{} x {} thread{}", ranks, ranks == 1 ? "" : "s", threads,
                     threads == 1 ? "" : "s");
}

Json collective_placement_report(const Job& job) {
  const auto& placement = job.placement();
  const Json own = {{"rank", job.world().rank()},
                    {"host", host_name()},
                    {"compute_pus", placement.compute_pus},
                    {"communication_pu", placement.communication_pu},
                    {"communication_core", to_string(placement.comm_core)},
                    {"oversubscribed", placement.oversubscribed},
                    {"quota", to_json(placement.quota)},
                    {"findings", to_json(placement.findings)}};
  Json ranks = Json::array();
  for (const std::string& text : job.world().gather(own.dump())) ranks.push_back(Json::parse(text));
  return {{"ranks", ranks}};
}

Json collective_environment_report(const Job& job) {
  std::set<std::string> hosts;
  for (std::string& host : job.world().gather(host_name())) hosts.insert(std::move(host));
  return {{"hostnames", hosts},
          {"cpu", job.topology().cpu_model()},
          {"simd", perfmodel::name(perfmodel::simd_level())},
          {"mpi", comm_thread::MpiSession::library_version()},
          {"openmp", _OPENMP},
          {"compiler", compiler()},
          {"commit", build_commit},
          {"thread_level", name(job.session().thread_level())}};
}

Json collective_spread(const Job& job, double value) {
  const double least = job.world().min(value);
  const double most = job.world().max(value);
  return {{"min", least}, {"mean", job.world().sum(value) / job.world().size()}, {"max", most}};
}

std::string findings_as_text(const Json& placement) {
  std::vector<std::string> lines;
  for (const Json& rank : placement["ranks"])
    for (const Json& finding : rank["findings"]) {
      std::string line = fmt::format("{}: {}\n", finding["severity"], finding["text"]);
      if (std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(std::move(line));
    }
  return fmt::format("{}", fmt::join(lines, ""));
}

void print_findings(const Json& report) {
  const std::string findings = findings_as_text(report["placement"]);
  if (!findings.empty()) fmt::print("\n{}", findings);
}

ReportFile::ReportFile(const Job& job, std::string path) : job_(job), path_(std::move(path)) {
  if (!path_.empty() && !is_standard_output()) spmv::collective_check_writable(job_.world(), path_);
}

bool ReportFile::collective_write(const Json& report) const {
  if (path_.empty()) return is_beside_summary();
  comm_thread::collective_attempt(job_.world(), [&] {
    if (!job_.is_root()) return;
    const std::string text = report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (is_standard_output()) {
      if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw comm_thread::InputError("standard output: cannot be written; expected room");
      return;
    }
    spmv::TemporaryFile unfinished(path_);
    std::ofstream file(unfinished.path());
    file << text;
    file.close();
    if (!file)
      throw comm_thread::InputError(path_ + ": could not be written; expected room for the report");
    unfinished.put_in_place();
  });
  return is_beside_summary();
}

}  // namespace weft::tools

fmt::appender fmt::formatter<weft::tools::Json>::format(const weft::tools::Json& field,
                                                        fmt::format_context& context) const {
  const std::string format = fmt::format("{{:{}}}", format_);
  const auto write = [&](const auto& value) {
    return fmt::vformat_to(context.out(), format, fmt::make_format_args(value));
  };
  constexpr std::string_view letters = "eEfFgG";
  const bool has_letter = !format_.empty() && letters.find(format_.back()) != letters.npos;
  if (field.is_string()) {
    const auto& text = field.get_ref<const std::string&>();
    return has_letter ? fmt::format_to(context.out(), "{}", text) : write(text);
  }
  if (!field.is_number()) return write(field.dump());
  const auto value = field.get<double>();
  if (has_letter || value != std::floor(value)) return write(value);
  if (field.is_number_unsigned()) return write(field.get<std::uint64_t>());
  return write(field.get<std::int64_t>());
}
