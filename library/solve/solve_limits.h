#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm_thread/mpi/communicator.h"
#include "library/solve/solve_context.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/method.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"

namespace weft::library {

/// Sees each iteration of a solve: tells the hooks of it, and ends the iterations where a hook asks
/// for that, time is over, or a method has fallen behind what was forecast of it. A solve may
/// consist of several runs of a method, one after another.
///
/// The ranks agree on the time by a reduction, at first after 1, 2, 4, … iterations, then about
/// every 20 ms: below a thousandth of the time.
/// Thread: the main thread, outside the team, where nothing else is said. Lifetime: `hooks` outlive
/// it, and it outlives the methods that it watches.
class SolveLimits {
 public:
  /// `max_seconds`: of a solve; 0: no limit. Collective. Throws comm_thread::MpiError.
  SolveLimits(const comm_thread::Communicator& ranks, const SolveHooks& hooks, double max_seconds);
  SolveLimits(const SolveLimits&) = delete;
  SolveLimits& operator=(const SolveLimits&) = delete;

  /// What ends the runs of one method besides.
  struct OfMethod {
    std::int64_t patience = 0;  // as in KrylovMethod::Options
    double forecast = 0;  // iterations that were forecast; 0: none were
  };

  /// Sets what `options` of a method say of iterations; they hold the criterion already.
  void watch(solver::KrylovMethod::Options& options, const OfMethod& limits);

  /// At the begin of a solve, from which its time counts.
  void start_solve();
  bool has_time_limit() const { return ranks_.has_value(); }

  /// Before right-hand sides are solved for of which `vector` is the first. `on_iteration`: told
  /// instead of the hooks; null: the hooks are. Lifetime: it outlives the solve.
  void begin_vectors(std::size_t vector, const OnVectorIteration* on_iteration);
  std::size_t first_vector() const { return first_vector_; }

  /// At the begin of the first run of a method, and of another one, which comes after `iterations`
  /// that have left the share `residual` of the first residual.
  void begin_run(std::int64_t iterations = 0, double residual = 1);
  /// Says in the report of a run why it has stopped, where no hook asked for that.
  void judge(solver::SolveReport& report) const;

  /// An iteration of vector number `vector` beside the first. Thread: the primary thread.
  void note_vector(std::size_t vector, std::int64_t iteration, double residual) const;

 private:
  void note(std::int64_t iteration, double residual) const;
  bool collective_stops(const OfMethod& limits, const solver::StopCriterion& stop,
                        std::int64_t iteration, double residual);
  bool collective_is_over();

  const SolveHooks& hooks_;
  std::optional<comm_thread::Communicator> ranks_;  // where time is limited
  double max_seconds_;
  perfmodel::Stopwatch since_start_;
  std::int64_t timed_iterations_ = 0;
  std::int64_t next_agreement_ = 1;  // number of the iteration after which the ranks agree
  bool is_over_ = false;
  std::int64_t iterations_before_ = 0;  // of the runs before, in the solve that goes on
  double residual_share_ = 1;  // of the first residual, which those have left
  bool is_asked_to_stop_ = false;  // by a hook or the time limit
  bool is_behind_ = false;
  std::size_t first_vector_ = 0;
  const OnVectorIteration* on_vector_iteration_ = nullptr;
};

}  // namespace weft::library
