#pragma once

#include <optional>
#include <string>

#include "spmv/matrix/storage_trial.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// Adds `product_seconds`, by form, to the `performance` of a report, which has `matrix_format`.
/// Nothing without times.
void add_storage_times(const std::optional<spmv::StorageTimes>& times, Json& performance);

/// "matrix as SELL-8 (0.42 ms a product; CRS 0.61)", or what a report has instead of a matrix.
std::string storage_phrase(const Json& performance);

}  // namespace weft::tools
