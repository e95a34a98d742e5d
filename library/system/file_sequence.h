#pragma once

#include <cstdint>
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
#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/solve_report.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// Solves with the matrices of a sequence of files, one after the other, each with what those
/// before have found (SolveSequence, unless the settings say recycle=none). A matrix whose entries
/// have the places of the one before gives its values to it, if these are others; another one is
/// set up anew.
///
/// With checkpoints the state is kept between two solves: what they have learned, and of which
/// files the preconditioner was made. A sequence that continues from it makes the preconditioner of
/// these files once more and solves with the bits of one that was not interrupted.
///
/// Rows stay in the order of the files. Functions are collective and throw comm_thread::InputError
/// on every rank. Thread: the main thread, outside the team. Lifetime: what the crew refers to
/// outlives it.
class FileSequence {
 public:
  /// `right_hand_side`: a pattern, or a word as for one matrix. `checkpoints`: null, or it outlives
  /// this; where it has a state, the sequence continues from it.
  FileSequence(const comm_thread::Crew& crew, SolveSettings settings, const std::string& matrices,
               std::string right_hand_side, solver::Checkpoints* checkpoints = nullptr);

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
  /// Solves the next system; nothing where there is no other file, or a signal has come.
  std::optional<Step> collective_next();
  /// Of all so far: converged, not_converged, or stopped by a signal.
  solver::SolveStatus status() const;

 private:
  enum class Taken { nothing, places, values };  // that are the same
  Taken collective_take(const spmv::DistributedMatrix& matrix);
  spmv::DistributedMatrix collective_load(int number);
  void collective_set_up(spmv::DistributedMatrix matrix);
  Taken collective_make_ready(spmv::DistributedMatrix matrix);
  void note_set_up(bool has_new_values);

  // Checkpoints.
  template <class Carry>
  void for_each_number(const Carry& carry);
  std::string recurrence() const;
  solver::SolveIdentity collective_identity();
  void collective_open_checkpoints(std::size_t vector_count);
  void collective_keep();
  void collective_keep_if_due();
  void collective_restore();
  void collective_make_again(std::size_t way);

  comm_thread::Crew crew_;
  SolveSettings settings_;
  NumberedFiles matrices_;
  std::string right_hand_side_;
  std::optional<NumberedFiles> right_hand_sides_;  // where it is a pattern
  int number_;  // of the next file
  int made_from_ = 0;  // number of the file that the preconditioner was made of
  int values_from_ = 0;  // and of that whose values it has taken last
  std::int64_t made_count_ = 0;  // of the solver, when this was noted
  bool has_converged_ = true;
  solver::Checkpoints* checkpoints_;
  int kept_ = -1;  // number of the next file in the last state that was kept
  bool is_stopped_ = false;
  spmv::Remarks remarks_;
  std::unique_ptr<LinearSystem> system_;
  std::unique_ptr<ChosenSolver> solver_;
  std::optional<SolveSequence> sequence_;  // with `recycle`
};

}  // namespace weft::library
