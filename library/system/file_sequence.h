#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm_thread/engine/crew.h"
#include "library/options/solve_settings.h"
#include "library/solve/chosen_solver.h"
#include "library/solve/solve_description.h"
#include "library/solve/solve_sequence.h"
#include "library/system/linear_system.h"
#include "library/system/numbered_files.h"
#include "solver/report/solve_report.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// Solves with the matrices of a sequence of files, one after the other, each with what those
/// before have found (SolveSequence, unless the settings say recycle=none). A matrix whose entries
/// have the places of the one before gives its values to it, if these are others; another one is
/// set up anew.
///
/// Rows stay in the order of the files. Functions are collective and throw comm_thread::InputError
/// on every rank. Thread: the main thread, outside the team. Lifetime: what the crew refers to
/// outlives it.
class FileSequence {
 public:
  /// `right_hand_side`: a pattern, or a word as for one matrix.
  FileSequence(const comm_thread::Crew& crew, SolveSettings settings, const std::string& matrices,
               std::string right_hand_side);

  /// One system, as it ended. Times are of this rank.
  struct Step {
    /// A line of a table, and its heading.
    std::string line() const;
    static std::string heading();
    Json json() const;

    std::string path;
    solver::SolveReport outcome;
    std::string method;
    std::string preconditioner;
    std::string set_up;  // "made", "new values" or "kept"
    int earlier_solutions = 0;
    double read_seconds = 0;
    double setup_seconds = 0;
    double solve_seconds = 0;
  };
  /// Solves the next system; nothing where there is no other file.
  std::optional<Step> collective_next();
  /// True if all so far have.
  bool has_converged() const { return has_converged_; }

 private:
  enum class Taken { nothing, places, values };  // that are the same
  Taken collective_take(const spmv::DistributedMatrix& matrix);
  void collective_set_up(spmv::DistributedMatrix matrix);

  comm_thread::Crew crew_;
  SolveSettings settings_;
  NumberedFiles matrices_;
  std::string right_hand_side_;
  std::optional<NumberedFiles> right_hand_sides_;  // where it is a pattern
  int number_;  // of the next file
  bool has_converged_ = true;
  spmv::Remarks remarks_;
  std::unique_ptr<LinearSystem> system_;
  std::unique_ptr<ChosenSolver> solver_;
  std::optional<SolveSequence> sequence_;  // with `recycle`
};

}  // namespace weft::library
