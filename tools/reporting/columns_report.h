#pragma once

#include "tools/job/job_report.h"

namespace weft::tools {

/// A line for each right-hand side.
void print_columns(const Json& columns);

}  // namespace weft::tools
