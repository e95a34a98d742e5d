#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/channels/newest_value.h"
#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/service.h"
#include "comm_thread/mpi/message_space.h"
#include "comm_thread/mpi/reduce_operation.h"

namespace weft::comm_thread {

/// Reduces a few numbers of all ranks continuously while they compute: as soon as a rank has the
/// result of one round, it contributes its newest numbers to the next. No rank waits.
///
///     round      |   1   |   2   |   3   |   4: stops here   |       |   5   | …
///     rank 0     | up ↑↓ | up ↑↓ | up ↑↓ | up ↑↓             | still | up ↑↓ |
///     rank 1     | up ↑ ↓| up ↑ ↓| …          the same results in the same rounds
///
/// If `has_changed` returns false, a rank delays its next round until it returns true, or for
/// `longest_rest_seconds`: rounds without new contributions cost the sweeping core as much as
/// others. Measured on two nodes of one core each, over TCP, with residuals of every 10th sweep of
/// 0.18 ms: without rest the communication thread took 0.65 s of a run of 1.1 s.
///
/// It begins stopped, and is idle between a stop and the `resume` of all ranks: then nothing is in
/// flight. A rank without a new contribution repeats its last one.
///
/// Register it with CommThread::add_service; without a communication thread its owner calls
/// `progress_services_here`. Memory ordering: contributions and results pass through NewestValue;
/// `is_running_` is handed to the communication thread by `resume` (release) and back by the stop.
/// Lifetime: `comm_thread` outlives it; removed from it, and stopped, when destroyed.
/// Source: Bethune et al. 2012, section 3.1.2.
class ContinuousReduction final : public Service {
 public:
  /// Implementation of a round.
  enum class Engine {
    tree,  // our schedule (AllReduce); the contribution is taken when the subtree's has arrived
    library,  // the library's own (MPI_Iallreduce); the contribution is taken when the round begins
  };

  struct Result {
    std::uint64_t round = 0;  // 1, 2, 3 …; 0 before the first
    std::vector<double> values{};
  };

  struct Options {
    /// One for each number.
    std::vector<ReduceOperation> operations{};
    Engine engine = Engine::tree;
    /// Returns true if the reduction stops with this result. Called once a round, on the
    /// communication thread; must give the same answer on all ranks. If empty, the reduction never
    /// stops.
    std::function<bool(const Result&)> stops_after{};
    /// Fills in the contribution when a round needs it, on the communication thread; replaces the
    /// values passed to `contribute`.
    std::function<void(std::span<double>)> take{};
    /// Returns true if this rank's contribution has changed since its last one. Called on the
    /// communication thread. If empty, rounds follow each other at once.
    std::function<bool()> has_changed{};
  };

  static constexpr double longest_rest_seconds = 0.002;

  /// Collective: duplicates the space.
  ContinuousReduction(const MessageSpace& space, CommThread& comm_thread, Options options);

  /// Removes itself from the communication thread if still registered.
  ~ContinuousReduction() override;

  /// Sets this rank's contribution from now on; zeros before the first call.
  /// Thread: one, not the communication thread. Shape: one number for each operation.
  void contribute(std::span<const double> values);

  /// The newest result. The reference holds until the next call. Thread: one.
  const Result& newest() { return results_.read(); }

  /// True if no round is in flight and none will begin before `resume`. Thread: any.
  bool is_stopped() const { return !is_running_.load(std::memory_order_acquire); }

  /// Starts the next round, which waits for the `resume` of all ranks.
  /// Thread: any, one at a time, while stopped.
  void resume() { is_running_.store(true, std::memory_order_release); }

  bool progress() override;

 private:
  void start_round();
  bool rests() const;
  bool is_round_complete();
  void take_contribution(std::span<double> values);
  void publish(std::span<const double> values);

  std::unique_ptr<MessageSpace> space_;
  CommThread& comm_thread_;
  Options options_;
  std::vector<double> contribution_;  // of the contributing thread
  NewestValue<std::vector<double>> contributions_;
  NewestValue<Result> results_;
  std::atomic<bool> is_running_{false};

  // Used by the communication thread only.
  Result result_;
  bool is_in_round_ = false;
  bool stops_ = false;
  double rest_end_ = 0;
  std::optional<AllReduce> tree_;
  std::optional<Pending> tree_round_;
  std::unique_ptr<PreparedReduction> library_;
};

}  // namespace weft::comm_thread
