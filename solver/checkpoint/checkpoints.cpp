#include "solver/checkpoint/checkpoints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;

/// Time between two agreements of the ranks, so that they cost next to nothing.
constexpr double agreement_seconds = 0.2;
constexpr std::int64_t most_calls = 1 << 20;

constexpr int agreement_tag = 1;
/// What the ranks agree on; the largest value counts.
enum Word : std::size_t { word_signal, word_due, word_busy, word_seconds, word_count };

std::string name_of(const SolveIdentity& identity) {
  return {identity.recurrence.data(),
          strnlen(identity.recurrence.data(), identity.recurrence.size())};
}

std::string other_name(const std::string& found, const std::string& wanted) {
  return "is of the method " + found + "; expected one of " + wanted;
}

/// The sentence about the first difference; empty where there is none.
std::string difference(const SolveIdentity& found, const SolveIdentity& wanted) {
  if (found.row_count != wanted.row_count)
    return "is of a system with " + std::to_string(found.row_count) + " rows; expected one with " +
           std::to_string(wanted.row_count);
  if (name_of(found) != name_of(wanted)) return other_name(name_of(found), name_of(wanted));
  if (found.matrix != wanted.matrix) return "is of another matrix; expected one of this matrix";
  if (found.right_hand_side != wanted.right_hand_side)
    return "is of another right-hand side; expected one of this system";
  if (found.preconditioner != wanted.preconditioner)
    return "is of another preconditioner, or other settings of the method; expected those that it "
           "was written with";
  return {};
}

}  // namespace

Checkpoints::Checkpoints(const comm_thread::Communicator& communicator,
                         comm_thread::CommThread& comm_thread, Options options)
    : options_(std::move(options)),
      communicator_(communicator),
      comm_thread_(comm_thread),
      writers_(communicator.collective_duplicate()),
      agreeing_(communicator.collective_duplicate()),
      agreement_(agreeing_, comm_thread::ReduceOperation::max, word_count, agreement_tag) {
  if (!options_.path.empty()) collective_check_checkpoint_path(communicator_, options_.path);
  if (options_.from.empty()) return;
  source_ = options_.from;
  collective_read_newest([this](const std::string& path) {
    state_ = collective_read_checkpoint_header(communicator_, path);
  });
  has_state_ = true;
}

template <class Read>
void Checkpoints::collective_read_newest(const Read& read) {
  try {
    return read(source_);
  } catch (const InputError& error) {
    const std::string older = previous_checkpoint(source_);
    try {
      read(older);
    } catch (const InputError&) {
      throw error;
    }
    report_.warning = std::string(error.what()) + "; continues from " + older;
    source_ = older;
  }
}

Checkpoints::~Checkpoints() { close(); }

void Checkpoints::close() {
  if (pending_) {
    pending_->wait();
    pending_.reset();
  }
  if (helper_) helper_->wait();
  tell_failure(true);
  report_.written = written_;
  report_.failed = failed_;
  report_.write_seconds = write_seconds_;
  report_.last_iteration = last_written_;
  if (failed_ > 0) report_.last_failure = failure_;
}

std::string Checkpoints::state_name() const {
  return has_state_ ? name_of(state_.identity) : std::string();
}

void Checkpoints::check_state_of(const std::string& recurrence) const {
  if (state_name() != recurrence)
    throw InputError(source_ + ": " + other_name(state_name(), recurrence));
}

std::span<const double> Checkpoints::state_scalars() const {
  if (!has_state_) return {};
  return std::span(state_.scalars).first(static_cast<std::size_t>(state_.scalar_count));
}

void Checkpoints::collective_open(const spmv::LinearOperator& op, const SolveIdentity& identity,
                                  std::size_t vector_count) {
  collective_open(PackedRows(op), op.team(), identity, vector_count);
}

void Checkpoints::collective_open(PackedRows rows, const comm_thread::ComputeTeam& team,
                                  const SolveIdentity& identity, std::size_t vector_count) {
  if (has_state_) {
    std::string found = difference(state_.identity, identity);
    if (found.empty() && state_.vector_count != vector_count)
      found = "found " + std::to_string(state_.vector_count) + " vectors; expected " +
              std::to_string(vector_count);
    if (!found.empty()) throw InputError(source_ + ": " + found);
  }
  if (helper_) helper_->wait();  // what it writes is of the state before
  rows_ = std::move(rows);
  copy_ = perfmodel::HugePageBuffer<double>(vector_count * rows_->count());
  // Each thread touches the pages first that it will copy to.
  team.run([&](const TeamThread& thread) {
    for (std::size_t vector = 0; vector < vector_count; ++vector)
      rows_->for_each_piece(thread, [&](std::size_t, std::size_t place, std::size_t count) {
        std::fill_n(packed(vector) + place, count, 0.0);
      });
  });
  if (has_state_) collective_read_state(identity);
  header_ = {};
  header_.identity = identity;
  header_.vector_count = vector_count;
  report_.bytes = static_cast<double>(header_.offset(vector_count));
  last_asked_ = -1;
  since_kept_ = {};
  since_agreement_ = {};
  if (!options_.path.empty() && comm_thread_.has_thread() && !helper_)
    helper_ = std::make_unique<comm_thread::HelperThread>(
        [this] { comm_thread_.settle_calling_thread(); }, [this] { write(); });
}

void Checkpoints::collective_read_state(const SolveIdentity& identity) {
  collective_read_newest([&](const std::string& path) {
    const CheckpointHeader header =
        path == source_ ? state_ : collective_read_checkpoint_header(communicator_, path);
    const std::string found = difference(header.identity, identity);
    if (!found.empty() || header.vector_count != state_.vector_count)
      throw InputError(path + ": " + found);
    collective_read_checkpoint(communicator_, path, header, *rows_, copy_.span());
    state_ = header;
  });
}

Checkpoints::Wish Checkpoints::after_iteration(std::int64_t iteration) {
  tell_failure(false);
  Wish wish = Wish::none;
  ++calls_since_;
  if (pending_) wish = take_agreement();
  if (options_.every_iterations > 0 && is_interval_over(iteration) && wish == Wish::none)
    wish = Wish::keep;
  if (--calls_left_ > 0) return wish;
  post_agreement(options_.every_iterations == 0 && since_kept_.seconds() >= options_.every_seconds);
  return wish;
}

Checkpoints::Wish Checkpoints::collective_after_step(std::int64_t step) {
  tell_failure(false);
  ++calls_since_;
  post_agreement(options_.every_iterations == 0 && since_kept_.seconds() >= options_.every_seconds);
  const Wish wish = take_agreement();
  const bool is_due = options_.every_iterations > 0 && is_interval_over(step);
  return wish == Wish::none && is_due ? Wish::keep : wish;
}

Checkpoints::Wish Checkpoints::after_sweep(std::int64_t iteration) {
  tell_failure(false);
  Wish wish = Wish::none;
  ++calls_since_;
  if (pending_) {
    if (!pending_->test()) return wish;
    wish = take_agreement();
  }
  if (--calls_left_ > 0) return wish;
  post_agreement(options_.every_iterations > 0 ? is_interval_over(iteration)
                                               : since_kept_.seconds() >= options_.every_seconds);
  return wish;
}

int Checkpoints::collective_settle() {
  const std::int64_t most = communicator_.max(posted_);
  int owed = 0;
  while (pending_ || posted_ < most) {
    if (!pending_) post_agreement(false);
    if (take_agreement() == Wish::keep) ++owed;
  }
  return owed;
}

void Checkpoints::tell_failure(bool is_last) {
  if (!is_failure_new_ || has_helper_work()) return;
  is_failure_new_ = false;
  if (options_.on_failure && communicator_.is_root()) options_.on_failure(failure_, is_last);
}

/// True if a multiple of the interval lies between the iteration before the next one and the one
/// that was asked about last.
bool Checkpoints::is_interval_over(std::int64_t iteration) {
  const std::int64_t last = std::exchange(last_asked_, iteration);
  if (last < 0) return (iteration + 1) % options_.every_iterations == 0;
  return (iteration + 1) / options_.every_iterations > (last + 1) / options_.every_iterations;
}

/// `is_due`: counts on rank 0 only.
void Checkpoints::post_agreement(bool is_due) {
  calls_left_ = most_calls;  // until it is agreed
  const auto words = agreement_.values();
  words[word_signal] = options_.stop_signal ? options_.stop_signal() : 0;
  words[word_due] = is_due && communicator_.is_root() && !options_.path.empty() ? 1 : 0;
  words[word_busy] = has_helper_work() ? 1 : 0;
  words[word_seconds] =
      since_agreement_.seconds() / static_cast<double>(std::max<std::int64_t>(calls_since_, 1));
  since_agreement_ = {};
  calls_since_ = 0;
  ++posted_;
  pending_ = agreement_.post(comm_thread_);
}

Checkpoints::Wish Checkpoints::take_agreement() {
  pending_->wait();
  pending_.reset();
  const auto words = agreement_.values();
  const double calls = agreement_seconds / std::max(words[word_seconds], 1e-9);
  calls_left_ =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(calls, 1e9)), 1, most_calls);
  agreed_signal_ = static_cast<int>(words[word_signal]);
  if (agreed_signal_ != 0) return Wish::keep_and_stop;
  return words[word_due] > 0 && words[word_busy] == 0 ? Wish::keep : Wish::none;
}

void Checkpoints::collective_keep(const TeamThread& thread, std::int64_t iteration,
                                  std::span<double* const> scalars,
                                  std::span<double* const> vectors) {
  collective_keep_by(thread, iteration, scalars,
                     [&](const PackedRows& rows, std::size_t vector, double* packed) {
                       rows.pack(thread, vectors[vector], packed);
                     });
}

void Checkpoints::wait_for_copy(const TeamThread& thread) {
  if (thread.is_primary() && helper_) helper_->wait();
  thread.barrier();
}

void Checkpoints::begin_to_write(const TeamThread& thread, std::int64_t iteration,
                                 std::span<double* const> scalars,
                                 const perfmodel::Stopwatch& watch) {
  if (thread.is_primary()) {
    header_.iteration = iteration;
    header_.scalar_count = scalars.size();
    for (std::size_t i = 0; i < scalars.size(); ++i) header_.scalars[i] = *scalars[i];
  }
  thread.barrier();
  if (!thread.is_primary()) return;
  since_kept_ = {};
  if (helper_)
    helper_->start();
  else
    write();
  report_.team_seconds += watch.seconds();
}

void Checkpoints::write() {
  const perfmodel::Stopwatch watch;
  try {
    collective_write_checkpoint(writers_, options_.path, header_, *rows_, copy_.span());
    ++written_;
    last_written_ = header_.iteration;
    last_attempt_failed_ = false;
  } catch (const std::exception& error) {
    ++failed_;
    if (!last_attempt_failed_ || failure_ != error.what()) is_failure_new_ = true;
    last_attempt_failed_ = true;
    failure_ = error.what();
  }
  write_seconds_ += watch.seconds();
}

void Checkpoints::collective_restore(const TeamThread& thread, std::span<double* const> scalars,
                                     std::span<double* const> vectors) {
  for (std::size_t i = 0; i < std::min(scalars.size(), state_.scalars.size()); ++i)
    *scalars[i] = state_.scalars[i];
  collective_restore_by(thread, {},
                        [&](const PackedRows& rows, std::size_t vector, const double* packed) {
                          rows.unpack(thread, packed, vectors[vector]);
                        });
}

/// `scalars`: shared by all threads.
void Checkpoints::end_restore(const TeamThread& thread, std::span<double* const> scalars) {
  if (thread.is_primary())
    for (std::size_t i = 0; i < std::min(scalars.size(), state_.scalars.size()); ++i)
      *scalars[i] = state_.scalars[i];
  thread.barrier();
  if (thread.is_primary()) {
    has_state_ = false;
    report_.is_continued = true;
    report_.first_iteration = state_.iteration;
  }
  thread.barrier();
}

}  // namespace weft::solver
