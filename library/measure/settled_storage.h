#pragma once

#include "comm_thread/job/job.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// Makes as many products as it takes to choose the form in which rows are stored, for what times
/// products afterwards. Nothing where there is no choice. Collective. Thread: the main thread.
void collective_settle_storage(const comm_thread::Job& job, spmv::LinearOperator& op);

}  // namespace weft::library
