#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/helper_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/stopwatch.h"
#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/packed_rows.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// Decides when the state of a solve is kept in a file, keeps it while the solve goes on, and gives
/// it back to a solve that continues on any number of ranks and threads.
///
///     compute team   iteration │ copies its rows │ iteration │ iteration │ iteration …
///     helper thread                              │ writes, flushes, renames │
///
/// A file that cannot be written is no error: the solve goes on, and the report says so.
/// Thread: the main thread, outside the team, where not said otherwise. Lifetime: `communicator`
/// and `comm_thread` outlive it.
class Checkpoints {
 public:
  struct Options {
    std::string path{};  // of the newest; empty: none is written
    std::string from{};  // of the state to begin from; empty: none
    double every_seconds = 300;
    std::int64_t every_iterations = 0;  // where above 0, instead of `every_seconds`
    /// Number of the signal that asks this rank to end, or 0. Thread: the primary one.
    std::function<int()> stop_signal{};
    /// Called on rank 0 with what could not be written, once until a write succeeds or fails for
    /// another reason. `is_last`: no other write follows. Thread: the primary one.
    std::function<void(const std::string& why, bool is_last)> on_failure{};
  };

  struct Report {
    std::int64_t written = 0;
    std::int64_t failed = 0;
    std::string last_failure;
    double bytes = 0;  // of one, all ranks
    double team_seconds = 0;  // that the compute team did not iterate, on this rank
    double write_seconds = 0;  // of the helper thread
    std::int64_t last_iteration = -1;  // of the newest written; negative: none
    bool is_continued = false;
    std::int64_t first_iteration = 0;  // that the solve continued from
    std::string warning;  // about the file it continued from
  };

  /// What the ranks have agreed to do after the next iteration.
  enum class Wish { none, keep, keep_and_stop };

  /// Checks that `path` can be written, and that `from` can be read. Collective. Throws
  /// comm_thread::InputError on every rank.
  Checkpoints(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
              Options options);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// Prepares for a solve, whose state has `vector_count` vectors: allocates the copy and reads
  /// the state to begin from. Once more where the state becomes another. Collective. Throws
  /// comm_thread::InputError, on every rank, where that is of something else.
  void collective_open(const spmv::LinearOperator& op, const SolveIdentity& identity,
                       std::size_t vector_count);
  /// The same for vectors of another kind, whose rows are `rows`.
  void collective_open(PackedRows rows, const comm_thread::ComputeTeam& team,
                       const SolveIdentity& identity, std::size_t vector_count);
  /// Returns when everything is written, or has failed.
  void close();

  /// True if states are kept, or there is one to begin from.
  bool is_used() const { return !options_.path.empty() || has_state_; }
  /// True if states are kept.
  bool keeps_states() const { return !options_.path.empty(); }
  /// Throws where the state to begin from is of another recurrence. Throws comm_thread::InputError,
  /// the same on all ranks.
  void check_state_of(const std::string& recurrence) const;
  /// True if a state has been read and not been taken.
  bool has_state() const { return has_state_; }
  /// The iteration after which it was kept.
  std::int64_t state_iteration() const { return state_.iteration; }
  /// The name of the recurrence that the state to begin from is of; empty: there is none.
  std::string state_name() const;
  /// The scalars that were kept with it; none where there is none.
  std::span<const double> state_scalars() const;

  /// Agrees with the other ranks on what to do, at most five times a second; the answer is known an
  /// iteration later. Thread: the primary thread of every rank, after each iteration.
  Wish after_iteration(std::int64_t iteration);

  /// The same for steps of seconds: agrees at once, in every step. Collective. Thread: the main
  /// thread, outside the team.
  Wish collective_after_step(std::int64_t step);

  /// The same for ranks that do not go on in step: never waits for another one, and ranks learn at
  /// different times what they have agreed on. Each then keeps its state once for each `keep`,
  /// but not for `keep_and_stop`, whatever iteration it has reached. `collective_settle` ends it.
  Wish after_sweep(std::int64_t iteration);
  /// Returns when all ranks know the same: how many states this rank has still to keep, so that all
  /// have kept as many. Collective.
  int collective_settle();
  /// True if a state can be written while ranks go on without waiting for each other: MPI has to
  /// allow several threads.
  bool can_keep_asynchronously() const { return comm_thread_.has_thread(); }

  /// Copies the state after `iteration` and begins to write it. Waits for the one before.
  /// Shape: vectors: [element_count]. Thread: every thread of the team. Collective.
  void collective_keep(const comm_thread::TeamThread& thread, std::int64_t iteration,
                       std::span<double* const> scalars, std::span<double* const> vectors);
  /// The same with copy(rows, number of the vector, its packed copy), which every thread calls.
  template <class Copy>
  void collective_keep_by(const comm_thread::TeamThread& thread, std::int64_t iteration,
                          std::span<double* const> scalars, const Copy& copy) {
    if (options_.path.empty()) return;
    const perfmodel::Stopwatch watch;
    wait_for_copy(thread);
    for (std::size_t vector = 0; vector < header_.vector_count; ++vector)
      copy(*rows_, vector, packed(vector));
    begin_to_write(thread, iteration, scalars, watch);
  }

  /// Takes the state that was read. Shape and thread: as of `collective_keep`; each thread gets the
  /// scalars.
  void collective_restore(const comm_thread::TeamThread& thread, std::span<double* const> scalars,
                          std::span<double* const> vectors);
  /// The same with copy(rows, number of the vector, its packed copy), which every thread calls.
  template <class Copy>
  void collective_restore_by(const comm_thread::TeamThread& thread,
                             std::span<double* const> scalars, const Copy& copy) {
    for (std::size_t vector = 0; vector < state_.vector_count; ++vector)
      copy(*rows_, vector, packed(vector));
    end_restore(thread, scalars);
  }

  /// The signal that ended the solve, the same on all ranks; 0: none.
  int stop_signal() const { return agreed_signal_; }

  /// Thread: as of the class, after `close`.
  const Report& report() const { return report_; }

 private:
  void collective_read_state(const SolveIdentity& identity);
  /// Calls read(file) for the newest checkpoint, and for the one before where that throws.
  template <class Read>
  void collective_read_newest(const Read& read);
  double* packed(std::size_t vector) { return copy_.data() + vector * rows_->count(); }
  void wait_for_copy(const comm_thread::TeamThread& thread);
  void begin_to_write(const comm_thread::TeamThread& thread, std::int64_t iteration,
                      std::span<double* const> scalars, const perfmodel::Stopwatch& watch);
  void end_restore(const comm_thread::TeamThread& thread, std::span<double* const> scalars);
  bool has_helper_work() const { return helper_ && helper_->is_busy(); }
  void tell_failure(bool is_last);
  bool is_interval_over(std::int64_t iteration);
  void post_agreement(bool is_due);
  Wish take_agreement();
  void write();

  Options options_;
  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  comm_thread::Communicator writers_;  // messages of the helper thread
  comm_thread::Communicator agreeing_;  // messages of the agreement
  std::string source_;  // the file that `state_` comes from
  CheckpointHeader state_;
  bool has_state_ = false;

  std::optional<PackedRows> rows_;
  perfmodel::HugePageBuffer<double> copy_;  // [vector_count × rows]
  CheckpointHeader header_;
  std::string failure_;  // of the last write that failed; written by the helper thread
  bool last_attempt_failed_ = false;
  bool is_failure_new_ = false;
  double write_seconds_ = 0;  // of the helper thread
  std::int64_t written_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t last_written_ = -1;

  comm_thread::AllReduce agreement_;
  std::optional<comm_thread::Pending> pending_;
  std::int64_t posted_ = 0;  // agreements
  std::int64_t last_asked_ = -1;  // iteration; negative: none
  std::int64_t calls_left_ = 1;  // until the next agreement
  std::int64_t calls_since_ = 0;
  perfmodel::Stopwatch since_agreement_;
  perfmodel::Stopwatch since_kept_;
  int agreed_signal_ = 0;
  Report report_;
  std::unique_ptr<comm_thread::HelperThread> helper_;  // null where MPI allows no second thread
};

}  // namespace weft::solver
