#pragma once

#include <string>

#include "spmv/linear_operator.h"
#include "spmv/mode.h"
#include "tools/job.h"

namespace weft::tools {

struct ModeChoice {
  spmv::Mode mode;
  std::string why;
};

/// The mode whose product the model predicts to be quickest here (perfmodel::predict_modes). Where
/// the communication thread has a core of its own: task mode, if it wins by more than the model can
/// be wrong, else vector mode. Where it shares a core, overlap with tests does the same work
/// without changing threads, and is taken unless it loses by more than that. The same on all ranks.
/// Collective. Thread: the main thread.
ModeChoice collective_choose_mode(Job& job, spmv::LinearOperator& op);

}  // namespace weft::tools
