#include "tools/system/job_checkpoints.h"

#include <cstring>

#include <fmt/format.h>

#include "tools/job/exit_codes.h"
#include "tools/job/launcher_record.h"

namespace weft::tools {

using solver::SolveStatus;

JobCheckpoints::JobCheckpoints(Job& job, const CheckpointOptions& options, bool catches_signals)
    : path_(options.path), is_used_(options.is_used()) {
  if (!is_used_ && !catches_signals) return;
  catches_signals = catches_signals || !path_.empty();
  if (catches_signals) signals_.emplace();
  solver::Checkpoints::Options settings = options.settings();
  settings.stop_signal = StopSignals::caught;
  settings.on_failure = [](const std::string& why, bool is_last) {
    fmt::print(stderr, "weft: {}; {}\n", why,
               is_last ? "it was the last checkpoint of this run"
                       : "the solve goes on and tries again at each checkpoint");
  };
  if (catches_signals && job.is_root()) tell_launcher("orderly");
  checkpoints_ =
      std::make_unique<solver::Checkpoints>(job.comm_thread_world(), job.comm_thread(), settings);
}

void JobCheckpoints::finish(SolveStatus status, std::string& explanation) {
  if (!checkpoints_) return;
  checkpoints_->close();
  if (status == SolveStatus::stopped && stop_signal() != 0)
    explanation = fmt::format("by signal {} ({}){}{}", stop_signal(), strsignal(stop_signal()),
                              explanation.empty() ? "" : "; ", explanation);
}

int JobCheckpoints::exit_code(SolveStatus status) const {
  if (status == SolveStatus::stopped && stop_signal() != 0)
    return exit_code_of_signal + stop_signal();
  if (status == SolveStatus::converged) return 0;
  return status == SolveStatus::out_of_time ? exit_code_out_of_time : exit_code_not_converged;
}

}  // namespace weft::tools
