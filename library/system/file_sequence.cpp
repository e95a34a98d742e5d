#include "library/system/file_sequence.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/settings/right_hand_side_choice.h"
#include "perfmodel/stopwatch.h"
#include "spmv/problems/problem.h"

namespace weft::library {

using comm_thread::InputError;

FileSequence::FileSequence(const comm_thread::Crew& crew, SolveSettings settings,
                           const std::string& matrices, std::string right_hand_side,
                           solver::Checkpoints* checkpoints)
    : crew_(crew),
      settings_(std::move(settings)),
      matrices_(matrices),
      right_hand_side_(std::move(right_hand_side)),
      number_(matrices_.collective_first(crew.communicator())),
      checkpoints_(checkpoints) {
  if (!NumberedFiles::is_pattern(right_hand_side_)) return;
  try {
    right_hand_sides_.emplace(right_hand_side_);
  } catch (const InputError& error) {
    throw InputError(comm_thread::option_name("rhs") + ": " + error.what());
  }
}

spmv::DistributedMatrix FileSequence::collective_load(int number) {
  LoadedMatrix loaded = collective_load_matrix(crew_.communicator(), crew_.team(),
                                               spmv::Problem::of_file(matrices_.path(number)),
                                               settings_, true, remarks_);
  if (!loaded.half.empty()) throw InputError(loaded.half);
  return std::move(loaded.matrix);
}

/// Gives values to the matrix that there is, where all ranks have the same places, unless all have
/// these values.
FileSequence::Taken FileSequence::collective_take(const spmv::DistributedMatrix& matrix) {
  if (!system_) return Taken::nothing;
  spmv::SparseOperator& op = *system_->matrix_operator();
  const spmv::DistributedMatrix& before = op.matrix().matrix();
  const bool is_same =
      matrix.partition.row_count() == before.partition.row_count() &&
      std::ranges::equal(matrix.halo_columns, before.halo_columns) &&
      std::ranges::equal(matrix.rows.row_offsets.span(), before.rows.row_offsets.span()) &&
      std::ranges::equal(matrix.rows.columns.span(), before.rows.columns.span());
  const bool has_same_values =
      is_same && std::ranges::equal(matrix.rows.values.span(), before.rows.values.span());
  const std::int64_t same = (is_same ? 1 : 0) + (has_same_values ? 1 : 0);
  const auto taken = static_cast<Taken>(crew_.communicator().min(same));
  if (taken != Taken::places) return taken;
  op.changeable_matrix().update_values(
      crew_.team(), [&](const comm_thread::TeamThread&, spmv::LocalIndex begin,
                        spmv::LocalIndex end, std::span<double> values) {
        const auto first = matrix.rows.row_offsets[static_cast<std::size_t>(begin)];
        const auto last = matrix.rows.row_offsets[static_cast<std::size_t>(end)];
        std::copy(matrix.rows.values.data() + first, matrix.rows.values.data() + last,
                  values.data() + first);
      });
  return taken;
}

void FileSequence::collective_set_up(spmv::DistributedMatrix matrix) {
  sequence_.reset();
  solver_.reset();
  system_ = std::make_unique<LinearSystem>(crew_, std::move(matrix), std::nullopt, settings_);
  SolveHooks hooks;
  hooks.on_iteration = [this](std::int64_t iteration, double residual) {
    if (sequence_) sequence_->note_iteration(iteration, residual);
  };
  solver_ = std::make_unique<ChosenSolver>(system_->op(), settings_, system_->context(), hooks);
  made_count_ = 0;
}

/// Notes of which files the preconditioner is, after a solve with the matrix of the next file.
void FileSequence::note_set_up(bool has_new_values) {
  if (made_count_ != solver_->made_count()) made_from_ = number_;
  if (made_count_ != solver_->made_count() || has_new_values) values_from_ = number_;
  made_count_ = solver_->made_count();
}

/// A solver for the matrix: that of the one before, with or without new values, or another.
FileSequence::Taken FileSequence::collective_make_ready(spmv::DistributedMatrix matrix) {
  const Taken taken = collective_take(matrix);
  const bool has_new_values = taken == Taken::places;
  if (taken == Taken::nothing) {
    collective_set_up(std::move(matrix));
    if (settings_.recycles()) sequence_.emplace(*solver_);
  }
  if (sequence_)
    sequence_->collective_prepare({.has_new_values = has_new_values});
  else if (has_new_values)
    solver_->collective_renew(true);
  return taken;
}

std::optional<FileSequence::Step> FileSequence::collective_next() {
  if (is_stopped_) return std::nullopt;
  const bool continues = checkpoints_ && checkpoints_->has_state();
  if (continues) collective_restore();
  if (system_ && !matrices_.collective_exists(crew_.communicator(), number_)) {
    collective_keep();
    return std::nullopt;
  }
  Step step;
  step.path = matrices_.path(number_);
  perfmodel::Stopwatch watch;
  const auto problem = spmv::Problem::of_file(step.path);
  spmv::DistributedMatrix matrix = collective_load(number_);
  const std::string word = right_hand_sides_ ? right_hand_sides_->path(number_) : right_hand_side_;
  step.read_seconds = watch.seconds();
  watch = {};
  const Taken taken = collective_make_ready(std::move(matrix));
  step.setup_seconds = watch.seconds();
  watch = {};
  const auto b = system_->collective_right_hand_sides(choose_right_hand_side(word, problem));
  step.read_seconds += watch.seconds();
  watch = {};
  step.outcome = sequence_ ? sequence_->collective_solve(b.front().span(), std::nullopt)
                           : solver_->collective_solve(b.front().span());
  step.solve_seconds = watch.seconds();
  if (continues) step.outcome.explanation += checkpoints_->report().warning;
  step.method = solver_->entry().name;
  step.preconditioner = solver_->settings().preconditioner;
  step.set_up = sequence_                ? solver::name(sequence_->set_up())
                : taken == Taken::places ? "new values"
                : taken == Taken::values ? "kept"
                                         : "made";
  if (sequence_) step.earlier_solutions = sequence_->guess_vectors();
  has_converged_ = has_converged_ && step.outcome.status == solver::SolveStatus::converged;
  note_set_up(step.set_up == solver::name(solver::SetUp::new_values));
  ++number_;
  collective_keep_if_due();
  return step;
}

solver::SolveStatus FileSequence::status() const {
  using solver::SolveStatus;
  if (is_stopped_) return SolveStatus::stopped;
  return has_converged_ ? SolveStatus::converged : SolveStatus::not_converged;
}

std::string FileSequence::Step::heading() {
  return fmt::format("{:<24}{:>15}{:>7}{:>11}  {:<12}{:>7}{:>10}{:>10}", "matrix", "status", "its",
                     "residual", "set-up", "guess", "set-up s", "solve s");
}

std::string FileSequence::Step::line() const {
  return fmt::format("{:<24}{:>15}{:>7}{:>11.1e}  {:<12}{:>7}{:>10.4f}{:>10.4f}{}{}", path,
                     solver::name(outcome.status), outcome.iterations, outcome.relative_residual,
                     set_up, earlier_solutions, setup_seconds, solve_seconds,
                     outcome.explanation.empty() ? "" : "  ", outcome.explanation);
}

Json FileSequence::Step::json() const {
  return {
      {"problem", path},
      {"method", method},
      {"preconditioner", preconditioner},
      {"status", solver::name(outcome.status)},
      {"explanation", outcome.explanation},
      {"iterations", outcome.iterations},
      {"relative_residual", outcome.relative_residual},
      {"recycled", {{"set_up", set_up}, {"earlier_solutions", earlier_solutions}}},
      {"seconds", {{"read", read_seconds}, {"setup", setup_seconds}, {"solve", solve_seconds}}}};
}

}  // namespace weft::library
