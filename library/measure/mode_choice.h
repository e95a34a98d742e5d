#pragma once

#include <string>

#include "comm_thread/job/job.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"

namespace weft::library {

struct ModeChoice {
  spmv::Mode mode;
  std::string why;
};

/// Returns the mode that the model predicts to be the quickest here (spmv::predicted_seconds); if
/// predictions are too close to decide, those modes are timed in turn and the quickest wins. The
/// same on all ranks. Collective. Thread: the main thread.
ModeChoice collective_choose_mode(comm_thread::Job& job, spmv::LinearOperator& op);

/// Returns the quickest of vector, overlap and task mode in a trial of nine products. A solve takes
/// a hundred or more. Where a rank has few rows there is no trial, and task mode is returned.
ModeChoice collective_try_modes(comm_thread::Job& job, spmv::LinearOperator& op);

/// Puts the mode that `auto` stands for in the place of that word, and returns why; nothing where
/// `mode` is another word. `by_trial`: as collective_try_modes. Likewise.
std::string collective_settle_mode(comm_thread::Job& job, spmv::LinearOperator& op,
                                   std::string& mode, bool by_trial = false);

}  // namespace weft::library
