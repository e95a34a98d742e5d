#pragma once

#include "spmv/modes/linear_operator.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Makes as many products as it takes to choose the form in which rows are stored, for what times
/// products afterwards. Nothing where there is no choice. Collective. Thread: the main thread.
void collective_settle_storage(const Job& job, spmv::LinearOperator& op);

}  // namespace weft::tools
