#pragma once

#include <functional>
#include <utility>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/row_set.h"

namespace weft::spmv {

/// Work of one rank on a vector with a halo: a product y = A·x (Product), or a fused pass of a
/// method. The modes differ only in when they run which part of it.
class Work {
 public:
  virtual ~Work() = default;

  /// Does the interior part, the boundary part (which reads the halo), or both. A `pause` that is
  /// not empty is called between pieces of some 10 µs; it changes no bit of the result.
  /// Thread: every thread of the team, each for its own share.
  virtual void run(RowSet part, const comm_thread::TeamThread& thread,
                   const std::function<void()>& pause) const = 0;
};

/// The work of a function run(part, thread, pause).
template <class Run>
class WorkBy final : public Work {
 public:
  explicit WorkBy(Run run) : run_(std::move(run)) {}
  void run(RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override {
    run_(part, thread, pause);
  }

 private:
  Run run_;
};

/// Who starts the messages of a halo, and progresses them from then on.
enum class Starter { communication_thread, primary_thread };

/// Work together with the exchange of the halo that it reads.
struct OverlappedWork {
  const Work& work;
  Halo& halo;
  comm_thread::CommThread& comm_thread;
  perfmodel::PhaseTimer& timer;
};

}  // namespace weft::spmv
