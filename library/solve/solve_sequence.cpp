#include "library/solve/solve_sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "solver/levels/level_report.h"
#include "spmv/modes/mode.h"

namespace weft::library {
namespace {

using solver::SetUp;
using solver::SolveReport;
using solver::SolveStatus;

/// Solutions that are kept: 16 bytes a row each.
constexpr int most_solutions = 8;

// Counted costs, in bytes.
constexpr double bytes_of_entry = 12;  // of a matrix
constexpr double bytes_of_row = 24;  // of a product
constexpr double bytes_of_iteration = 150;  // a row, for the vectors of the method
/// Of a level: four products in single precision, and what takes the residual down and up.
constexpr double bytes_of_level_entry = 40;
constexpr double bytes_of_level_row = 80;
constexpr double bytes_of_guess = 100;  // a row of a vector, beside its product
/// The product that begins a solve, sums and what ranks wait for them: 1.5 to 2.5 with two vectors,
/// where a rank has 2000 to 16 000 rows.
constexpr double iterations_of_guess = 1;
/// Of all levels' entries, as multiples of reading them once in the matrix, where an iteration
/// takes as long as its bytes: 85 to 100 and 215 to 270 of three matrices.
constexpr double reads_of_new_values = 92;
constexpr double reads_of_set_up = 240;

/// Of a size of a row, to what it was: the ratio, and its inverse.
void take_ratio(double before, double now, std::array<double, 2>& largest) {
  if (now == 0 && before == 0) return;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool is_positive = now > 0 && before > 0;
  largest[0] = std::max(largest[0], is_positive ? now / before : infinity);
  largest[1] = std::max(largest[1], is_positive ? before / now : infinity);
}

double digits_between(double before, double after) {
  return before > 0 && after > 0 ? std::log10(before / after) : 0;
}

}  // namespace

SolveSequence::SolveSequence(ChosenSolver& solver) : solver_(solver), guess_plan_(most_solutions) {
  collective_renewed(SetUp::made, 1);
}

/// What is known of the matrix and the preconditioner after a set-up.
void SolveSequence::collective_note_set_up() {
  spmv::SparseOperator* const before = std::exchange(matrix_, solver_.plain_matrix());
  if (!matrix_ || matrix_ != before) {
    space_.reset();
    has_new_sizes_ = false;
  }
  preconditioner_ = solver_.preconditioner();
  is_stale_ = false;
  has_turned_ = false;
  has_levels_ = false;
  if (!matrix_) return;
  const auto rows = static_cast<double>(matrix_->global_row_count());
  const auto entries = static_cast<double>(matrix_->matrix().matrix().global_nonzero_count);
  product_bytes_ = bytes_of_entry * entries + bytes_of_row * rows;
  iteration_bytes_ = product_bytes_ + bytes_of_iteration * rows;
  if (!preconditioner_) return;
  auto* const levels = dynamic_cast<solver::Levels*>(preconditioner_);
  has_levels_ = levels != nullptr;
  if (!levels) {  // one like the matrix
    iteration_bytes_ += product_bytes_;
    return;
  }
  level_entries_ = 0;
  for (const solver::LevelReport& level : levels->report().levels) {
    const auto of_level = static_cast<double>(level.nonzeros);
    iteration_bytes_ +=
        static_cast<double>(level.visits) *
        (bytes_of_level_entry * of_level + bytes_of_level_row * static_cast<double>(level.rows));
    level_entries_ += of_level;
  }
}

/// Of the rows as the preconditioner has them.
void SolveSequence::note_sizes() {
  if (!has_levels_ || !set_up_plan_.looks()) return;
  if (std::exchange(has_new_sizes_, false))
    std::swap(sizes_, new_sizes_);
  else
    measure_rows(sizes_, nullptr);
}

solver::SetUpPlan::Costs SolveSequence::costs() const {
  if (!has_levels_) return {};
  const double read = bytes_of_entry * level_entries_ / iteration_bytes_;
  return {.new_values = reads_of_new_values * read, .made = reads_of_set_up * read};
}

/// Of each row the diagonal entry and the sum of the others' magnitudes; and, for each thread, the
/// largest of their ratios to those that the preconditioner has, and of the inverse ratios.
void SolveSequence::measure_rows(std::vector<double>& sizes,
                                 std::vector<std::array<double, 2>>* ratios) const {
  const spmv::CrsMatrix& rows = matrix_->matrix().matrix().rows;
  sizes.resize(2 * matrix_->element_count());
  matrix_->team().run([&](const comm_thread::TeamThread& thread) {
    std::array<double, 2> largest{0, 0};
    matrix_->for_each_element(thread.index, [&](std::size_t i) {
      double diagonal = 0;
      double others = 0;
      for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
           k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k) {
        const bool is_diagonal = static_cast<std::size_t>(rows.columns[k]) == i;
        diagonal += is_diagonal ? rows.values[k] : 0.0;
        others += is_diagonal ? 0.0 : std::abs(rows.values[k]);
      }
      sizes[2 * i] = diagonal;
      sizes[2 * i + 1] = others;
      if (!ratios) return;
      take_ratio(sizes_[2 * i], diagonal, largest);
      take_ratio(sizes_[2 * i + 1], others, largest);
    });
    if (ratios) (*ratios)[static_cast<std::size_t>(thread.index)] = largest;
  });
}

/// Of the rows' ratios to those that the preconditioner has, the largest over the least.
double SolveSequence::collective_find_spread() {
  std::vector<std::array<double, 2>> ratios(
      static_cast<std::size_t>(matrix_->team().thread_count()));
  measure_rows(new_sizes_, &ratios);
  has_new_sizes_ = true;
  std::array<double, 2> largest{0, 0};
  for (const auto& each : ratios)
    for (const std::size_t i : {0U, 1U}) largest[i] = std::max(largest[i], each[i]);
  matrix_->communicator().max(largest);
  return std::max(1.0, largest[0] * largest[1]);
}

void SolveSequence::collective_renew(SetUp what, double spread) {
  if (what != SetUp::kept) solver_.collective_renew(what == SetUp::new_values);
  collective_renewed(what, spread);
}

void SolveSequence::collective_renewed(SetUp what, double spread) {
  done_ = what;
  if (what != SetUp::kept) collective_note_set_up();
  set_up_plan_.begin(what, spread, costs());
  if (what != SetUp::kept) note_sizes();
}

void SolveSequence::collective_prepare(const Change& change) {
  has_turned_ = has_turned_ || preconditioner_ != solver_.preconditioner();
  if (has_turned_) collective_renewed(SetUp::made, 1);
  if (change.has_new_values) {
    is_stale_ = true;
    has_new_sizes_ = false;
    if (space_) space_->forget_products();
  }
  if (change.must_make || change.has_other_places) return collective_renew(SetUp::made, 1);
  if (!is_stale_) {
    if (has_solved_) done_ = SetUp::kept;
    return;
  }
  if (!matrix_ || !has_levels_) return collective_renew(SetUp::new_values, 1);
  const double spread =
      set_up_plan_.looks() ? collective_find_spread() : std::numeric_limits<double>::infinity();
  collective_renew(set_up_plan_.choose(spread), spread);
}

void SolveSequence::make_space() {
  if (space_ || !matrix_ || solver_.entry().needs_grid) return;
  space_.emplace(*matrix_, *spmv::parse_mode(solver_.settings().mode), most_solutions);
}

template <class Carry>
void SolveSequence::for_each_number(const Carry& carry) {
  has_turned_ = has_turned_ || preconditioner_ != solver_.preconditioner();
  carry(has_turned_);
  carry(is_stale_);
  carry(digits_of_iteration_);
  guess_plan_.for_each_number(carry);
  set_up_plan_.for_each_number(carry);
  make_space();
  if (space_) space_->for_each_number(carry);
}

std::vector<double> SolveSequence::numbers() {
  std::vector<double> all;
  for_each_number([&](auto& number) { all.push_back(static_cast<double>(number)); });
  return all;
}

std::vector<double*> SolveSequence::collective_vectors() {
  return space_ ? space_->collective_vectors() : std::vector<double*>{};
}

bool SolveSequence::collective_take(std::span<const double> numbers) {
  if (numbers.size() != this->numbers().size()) return false;
  std::size_t next = 0;
  for_each_number([&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(numbers[next++]);
  });
  has_solved_ = true;
  return true;
}

/// The best guess of the last solutions and the caller's.
solver::Guess SolveSequence::collective_guess(std::span<const double> b,
                                              const solver::Guess& guess) {
  guess_vectors_ = 0;
  make_space();
  if (!space_) return guess;
  const int count = std::min(guess_plan_.count(), space_->size());
  if (count == 0) return guess;
  if (start_.size() != b.size()) start_ = perfmodel::HugePageBuffer<double>(b.size());
  if (!space_->collective_guess(b, guess.value_or(std::span<const double>()), count,
                                solver_.is_symmetric(), start_.span()))
    return guess;
  guess_vectors_ = count;
  return start_.span();
}

/// Learns of a solve.
void SolveSequence::collective_note(std::span<const double> b, const SolveReport& report) {
  // The first iteration does more than the others, the better the guess the more.
  const std::int64_t others = report.iterations - 1;
  const double digits = digits_between(first_residual_, report.relative_residual);
  const bool is_known = others > 0 && digits > 0;
  if (is_known) digits_of_iteration_ = digits / static_cast<double>(others);
  set_up_plan_.end(is_known ? others : 0, digits);
  if (!space_) return;
  if (report.status != SolveStatus::converged) return space_->keep(0);
  space_->collective_judge(b, solver_.solution());
  const double cost =
      (product_bytes_ + bytes_of_guess * static_cast<double>(matrix_->global_row_count())) /
      iteration_bytes_;
  guess_plan_.note(space_->digits(), digits_of_iteration_,
                   {.of_vector = cost,
                    .of_guess = iterations_of_guess,
                    .of_solve = static_cast<double>(report.iterations)});
  if (guess_plan_.wanted() > 0) space_->collective_take(solver_.solution());
  space_->keep(guess_plan_.wanted());
}

SolveReport SolveSequence::collective_solve(std::span<const double> b, const solver::Guess& guess) {
  const solver::Guess start = collective_guess(b, guess);
  SolveReport report = solver_.collective_solve(b, start);
  const bool has_failed = report.status == SolveStatus::not_converged ||
                          report.status == SolveStatus::breakdown ||
                          report.status == SolveStatus::diverged;
  if (has_failed && is_stale_) {
    const std::int64_t iterations = report.iterations;
    collective_renew(SetUp::new_values, 1);
    report = solver_.collective_solve(b, start);
    report.iterations += iterations;
  }
  collective_note(b, report);
  has_solved_ = true;
  return report;
}

}  // namespace weft::library
