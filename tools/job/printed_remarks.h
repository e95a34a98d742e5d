#pragma once

#include "spmv/files/remarks.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Prints what a reader remarks on standard error, "note: FILE: …", on rank 0.
void print_remarks(const Job& job, const spmv::Remarks& remarks);

}  // namespace weft::tools
