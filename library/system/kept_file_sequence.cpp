#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/system/file_sequence.h"
#include "solver/checkpoint/system_checksum.h"
#include "spmv/modes/mode.h"

// What checkpoints keep of FileSequence.

namespace weft::library {

using comm_thread::InputError;
using comm_thread::TeamThread;

/// Calls carry(number) for each number of the state but those of SolveSequence and of the solver.
template <class Carry>
void FileSequence::for_each_number(const Carry& carry) {
  carry(number_);
  carry(made_from_);
  carry(values_from_);
  carry(has_converged_);
}

std::string FileSequence::recurrence() const {
  return settings_.recycles() ? "sequence with recycle=auto" : "sequence with recycle=none";
}

/// The preconditioner is told by what it makes of a vector.
solver::SolveIdentity FileSequence::collective_identity() {
  spmv::LinearOperator& op = system_->op();
  solver::SolveIdentity identity = solver::identity_of(recurrence(), op.global_row_count());
  identity.matrix = solver::collective_matrix_checksum(op, *spmv::parse_mode(settings_.mode));
  LinearSystem::Vector probe(op.element_count());
  LinearSystem::Vector product(op.element_count());
  op.team().run(
      [&](const TeamThread& thread) { solver::fill_with_probe(thread, op, probe.data()); });
  solver_->collective_precondition(probe.span(), product.span());
  identity.preconditioner = solver::collective_checksum(op, product.data()) +
                            solver::text_checksum(solver_->entry().name);
  return identity;
}

void FileSequence::collective_open_checkpoints(std::size_t vector_count) {
  checkpoints_->collective_open(system_->op(), collective_identity(), vector_count);
}

/// Keeps the state before the next file, unless it is kept already.
void FileSequence::collective_keep() {
  if (!checkpoints_ || !checkpoints_->keeps_states() || kept_ == number_) return;
  kept_ = number_;
  std::vector<double> numbers;
  for_each_number([&](auto& number) { numbers.push_back(static_cast<double>(number)); });
  numbers.push_back(static_cast<double>(solver_->way()));
  std::vector<double*> vectors;
  if (sequence_) {
    const std::vector<double> learned = sequence_->numbers();
    numbers.insert(numbers.end(), learned.begin(), learned.end());
    vectors = sequence_->collective_vectors();
  }
  collective_open_checkpoints(vectors.size());
  std::vector<double*> scalars;
  for (double& number : numbers) scalars.push_back(&number);
  system_->op().team().run([&](const TeamThread& thread) {
    checkpoints_->collective_keep(thread, number_ - 1, scalars, vectors);
  });
}

void FileSequence::collective_keep_if_due() {
  using Wish = solver::Checkpoints::Wish;
  if (!checkpoints_ || !checkpoints_->keeps_states()) return;
  const Wish wish = checkpoints_->collective_after_step(number_ - 1);
  is_stopped_ = wish == Wish::keep_and_stop;
  if (wish != Wish::none) collective_keep();
}

/// Makes the solver of the files that it was made of, and gives it the values of the last one.
void FileSequence::collective_make_again(std::size_t way) {
  const auto take = [this](int number) {
    if (collective_take(collective_load(number)) == Taken::nothing)
      throw InputError(matrices_.path(number) + ": found entries at other places than in " +
                       matrices_.path(made_from_) + "; expected those that the state is of");
  };
  collective_set_up(collective_load(made_from_));
  solver_->collective_turn_to(way);
  if (values_from_ != made_from_) {
    take(values_from_);
    solver_->collective_renew(true);
  }
  if (settings_.recycles()) sequence_.emplace(*solver_);
  if (number_ - 1 != values_from_) take(number_ - 1);
  made_count_ = solver_->made_count();
}

void FileSequence::collective_restore() {
  checkpoints_->check_state_of(recurrence());
  const auto kept = checkpoints_->state_scalars();
  std::vector<double> numbers(kept.begin(), kept.end());
  std::size_t next = 0;
  std::size_t own = 1;  // with the way
  for_each_number([&](auto& /*number*/) { ++own; });
  numbers.resize(std::max(numbers.size(), own));
  for_each_number([&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(numbers[next++]);
  });
  collective_make_again(static_cast<std::size_t>(numbers[next++]));
  std::vector<double*> vectors;
  if (sequence_) {
    if (!sequence_->collective_take(std::span(numbers).subspan(own)))
      throw InputError(comm_thread::option_name("restart-from") + ": found a state with " +
                       std::to_string(kept.size()) + " numbers; expected one that this program " +
                       "has written");
    vectors = sequence_->collective_vectors();
  }
  collective_open_checkpoints(vectors.size());
  system_->op().team().run(
      [&](const TeamThread& thread) { checkpoints_->collective_restore(thread, {}, vectors); });
  kept_ = number_;
}

}  // namespace weft::library
