#include "tools/commands/topology_command.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/placement/audit.h"
#include "comm_thread/placement/cpu_quota.h"
#include "comm_thread/placement/number_words.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"

namespace weft::tools {
namespace {

/// Planned and actual placement of one thread of this rank.
Json to_json(const Job& job, const comm_thread::ThreadAudit& audit) {
  Json thread = {{"thread", audit.thread < 0 ? Json("communication") : Json(audit.thread)},
                 {"planned_pu", audit.planned_pu},
                 {"binding", comm_thread::format_list(audit.binding)},
                 {"last_pu", audit.last_cpu ? Json(*audit.last_cpu) : Json(nullptr)}};
  if (const auto pu = job.topology().find_pu(audit.planned_pu)) {
    thread["core"] = pu->core;
    thread["numa_domain"] = pu->numa_domain;
    thread["package"] = pu->package;
  }
  return thread;
}

/// This rank's threads and the findings of the audit.
Json rank_report(Job& job) {
  auto audits = job.audit_compute_threads();
  if (const auto audit = job.audit_communication_thread()) audits.push_back(*audit);
  Json threads = Json::array();
  for (const auto& audit : audits) threads.push_back(to_json(job, audit));
  Json findings = Json::array();
  if (!job.placement().oversubscribed)
    for (const auto& finding : comm_thread::audit(job.topology(), audits))
      findings.push_back({{"severity", to_string(finding.severity)}, {"text", finding.text}});
  return {{"rank", job.world().rank()}, {"threads", threads}, {"findings", findings}};
}

Json machine_report(const comm_thread::Topology& topology) {
  return {{"cpu", topology.cpu_model()},
          {"packages", topology.package_count()},
          {"numa_domains", topology.numa_domain_count()},
          {"cores", topology.core_count()},
          {"pus", topology.pu_count()},
          {"is_this_machine", topology.is_this_machine()}};
}

/// A line for each quota of processor time, which ranks of one container have in common.
std::string quotas_as_text(const Json& placement) {
  std::string lines;
  for (const Json& rank : placement["ranks"]) {
    const Json& quota = rank["quota"];
    if (quota.is_null()) continue;
    const int ranks = quota["ranks"].get<int>();
    const std::string line =
        fmt::format("quota        {} of processor time for {} rank{} of {}: {}\n",
                    comm_thread::cores_in_words(quota["cores"].get<double>()), ranks,
                    ranks == 1 ? "" : "s", rank["host"], quota["file"]);
    if (lines.find(line) == std::string::npos) lines += line;
  }
  return lines;
}

void print_topology_summary(const Json& report) {
  const Json& machine = report["machine"];
  fmt::print("machine      {}\n", machine["cpu"]);
  fmt::print("             packages {}, NUMA domains {}, cores {}, hardware threads {}\n",
             machine["packages"], machine["numa_domains"], machine["cores"], machine["pus"]);
  fmt::print("{}\n", quotas_as_text(report["placement"]));
  fmt::print("{:>5}  {:<20}{:<14}{:>8}{:>8}{:>6}{:>6}  {:<12}{:>8}\n", "rank", "host", "thread",
             "planned", "package", "NUMA", "core", "bound to", "last on");
  const auto number = [](const Json& thread, const char* key) {
    return thread.contains(key) && !thread[key].is_null() ? thread[key].dump() : "-";
  };
  for (std::size_t r = 0; r < report["audit"].size(); ++r) {
    const Json& rank = report["audit"][r];
    const Json& placement = report["placement"]["ranks"][r];
    for (const Json& thread : rank["threads"]) {
      const std::string core = placement["communication_core"].get<std::string>();
      fmt::print(
          "{:>5}  {:<20}{:<14}{:>8}{:>8}{:>6}{:>6}  {:<12}{:>8}{}\n", rank["rank"],
          placement["host"],
          thread["thread"].is_string() ? "communication" : "compute " + thread["thread"].dump(),
          number(thread, "planned_pu"), number(thread, "package"), number(thread, "numa_domain"),
          number(thread, "core"), thread["binding"], number(thread, "last_pu"),
          thread["thread"].is_string() ? "  " + core : "");
    }
  }
  const Json audit_as_placement = {{"ranks", report["audit"]}};
  const std::string findings =
      findings_as_text(report["placement"]) + findings_as_text(audit_as_placement);
  fmt::print("\n{}", findings.empty() ? "Every thread is where it belongs.\n" : findings);
}

int show(const comm_thread::MpiSession& session, const SystemOptions& options) {
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  Json audit = Json::array();
  for (const std::string& text : job.world().gather(rank_report(job).dump()))
    audit.push_back(Json::parse(text));
  Json report = collective_start_report(job, "topology");
  report["machine"] = machine_report(job.topology());
  report["audit"] = audit;
  if (report_file.collective_write(report)) print_topology_summary(report);
  return 0;
}

}  // namespace

void add_topology_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<SystemOptions>();
  CLI::App& command = *program.add_subcommand("topology", "show where ranks and threads are");
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  mpiexec.mpich -n 2 weft topology\n"
      "  weft topology --threads 2 --json -\n"
      "HWLOC_SYNTHETIC=\"pack:2 numa:4 core:16 pu:2\" plans for another machine.");
  command.callback([options, &session, &exit_code] { exit_code = show(session, *options); });
}

}  // namespace weft::tools
