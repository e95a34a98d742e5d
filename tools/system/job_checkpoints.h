#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solver/checkpoint/checkpoints.h"
#include "solver/report/solve_report.h"
#include "tools/job/program_job.h"
#include "tools/job/stop_signals.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// The checkpoints that the options of a command ask for, and the signals that end it with one.
class JobCheckpoints {
 public:
  /// `catches_signals`: where no state is kept, too. `job` outlives it. Collective. Throws
  /// comm_thread::InputError.
  JobCheckpoints(Job& job, const CheckpointOptions& options, bool catches_signals = false);

  /// True if the options ask for any.
  bool is_used() const { return is_used_; }
  /// Null where they ask for none, and no signals are caught.
  solver::Checkpoints* get() const { return checkpoints_.get(); }
  /// Where states are kept; empty: nowhere.
  const std::string& path() const { return path_; }

  /// Returns when everything is written. Says in `explanation` which signal has ended the run.
  void finish(solver::SolveStatus status, std::string& explanation);

  /// Exit code of the command.
  int exit_code(solver::SolveStatus status) const;

 private:
  int stop_signal() const { return checkpoints_ ? checkpoints_->stop_signal() : 0; }

  std::string path_;
  bool is_used_;
  std::optional<StopSignals> signals_;
  std::unique_ptr<solver::Checkpoints> checkpoints_;
};

}  // namespace weft::tools
