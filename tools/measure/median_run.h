#pragma once

#include <functional>

#include "tools/job/job_report.h"

namespace weft::tools {

/// Calls `run` so often and returns the report whose `seconds` are the median. Collective as `run`
/// is; the same run is chosen on every rank.
Json median_run(int repetitions, const std::function<Json()>& run);

}  // namespace weft::tools
