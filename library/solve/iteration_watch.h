#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm_thread/mpi/communicator.h"
#include "library/solve/solve_hooks.h"
#include "library/solve/time_limit.h"
#include "solver/krylov/method.h"
#include "solver/report/solve_report.h"

namespace weft::library {

/// Sees each iteration of a solve: tells the hooks of it, and ends the iterations where a hook asks
/// for that, time is over, or a method has fallen behind what was forecast of it. A solve may
/// consist of several runs of a method, one after another.
/// Thread: the main thread, outside the team. Lifetime: `hooks` outlive it, and it outlives the
/// methods that it watches.
class IterationWatch {
 public:
  /// `max_seconds`: of a solve; 0: no limit. Collective.
  IterationWatch(const comm_thread::Communicator& ranks, const SolveHooks& hooks,
                 double max_seconds);
  IterationWatch(const IterationWatch&) = delete;
  IterationWatch& operator=(const IterationWatch&) = delete;

  /// What ends the runs of one method.
  struct Limits {
    std::int64_t patience = 0;  // as in KrylovMethod::Options
    double forecast = 0;  // iterations that were forecast; 0: none were
  };

  /// Sets what `options` of a method say of iterations; they hold the criterion already.
  void watch(solver::KrylovMethod::Options& options, const Limits& limits);

  /// At the begin of a solve, from which its time counts.
  void start_time();
  bool has_time_limit() const { return limit_.has_value(); }

  /// At the begin of the first run of a method, and of another one, which comes after `iterations`
  /// that have left the share `residual` of the first residual.
  void begin_run() { begin_run(0, 1); }
  void begin_run(std::int64_t iterations, double residual);

  /// Says in the report of a run why it has stopped, where nobody asked for that.
  void judge_run(solver::SolveReport& report) const;
  /// Says so where time is over.
  void judge_time(solver::SolveReport& report) const;

  /// Tells `on_iteration` instead of the hooks for as long as it lives, and counts vectors from 0
  /// afterwards.
  class VectorScope {
   public:
    VectorScope(IterationWatch& watch, const OnVectorIteration& on_iteration) : watch_(watch) {
      watch_.on_vector_iteration_ = on_iteration;
    }
    ~VectorScope() {
      watch_.on_vector_iteration_ = nullptr;
      watch_.first_vector_ = 0;
    }
    VectorScope(const VectorScope&) = delete;
    VectorScope& operator=(const VectorScope&) = delete;

   private:
    IterationWatch& watch_;
  };
  /// The first of the right-hand sides that are solved for next.
  void set_first_vector(std::size_t vector) { first_vector_ = vector; }
  std::size_t first_vector() const { return first_vector_; }
  /// An iteration of vector number `vector` beside the first. Thread: the primary thread.
  void note_vector(std::size_t vector, std::int64_t iteration, double residual) const;

 private:
  void note(std::int64_t iteration, double residual) const;
  bool collective_stops(const Limits& limits, const solver::StopCriterion& stop,
                        std::int64_t iteration, double residual);

  const SolveHooks& hooks_;
  std::optional<TimeLimit> limit_;
  std::int64_t iterations_before_ = 0;  // in the solve that goes on
  double residual_share_ = 1;  // of the first residual, which those have left
  bool is_asked_to_stop_ = false;  // by a hook or the time limit
  bool is_behind_ = false;
  std::size_t first_vector_ = 0;
  OnVectorIteration on_vector_iteration_;
};

}  // namespace weft::library
