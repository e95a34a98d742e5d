#pragma once

#include <memory>
#include <string>
#include <vector>

#include "perfmodel/likwid_markers.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Hardware counters of all compute threads, under `likwid-perfctr -m`; elsewhere the reason why
/// there are none.
class Counters {
 public:
  /// Collective. Lifetime: `job` outlives it.
  explicit Counters(const Job& job);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  bool is_counting() const { return markers_ != nullptr; }

  /// What was counted in regions of these names: `{missing, regions: [{name, calls, memory_bytes,
  /// zero_threads}]}`; regions that no thread was in are left out. Collective.
  Json collective_report(const std::vector<std::string>& regions) const;

 private:
  const Job& job_;
  std::unique_ptr<perfmodel::LikwidMarkers> markers_;
  std::vector<std::string> events_;
  std::string missing_;
};

/// The regions of the solvers: their phases.
const std::vector<std::string>& solver_regions();

/// Threads that were in a region without counting anything, as lines; empty where there are none.
std::string zero_counts_as_text(const Json& counters);

/// Enters the counters of the solvers' phases in `report` where any are counted, and says on
/// standard error where they do not work. Collective.
void collective_report_phases(const Job& job, const Counters& counters, Json& report);

}  // namespace weft::tools
