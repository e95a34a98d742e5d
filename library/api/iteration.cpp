#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "library/api/guarded.h"
#include "library/api/job_state.h"
#include "library/api/status_of.h"
#include "library/settings/iteration_settings.h"
#include "library/state/caller_sweeper.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"

namespace weft {
inline namespace v0 {
namespace {

using library::guarded;
using library::IterationVariant;

}  // namespace

/// What a weft::Iteration owns. Members are destroyed in the reverse of their order.
struct Iteration::State {
  State(std::shared_ptr<Job::State> of_job, const UserIteration& user, const Options& options)
      : job(std::move(of_job)),
        space(job->job->comm_thread_world().collective_duplicate()),
        settings(library::IterationSettings::parse(options.all())),
        sweeper(space, job->job->team(), user) {}

  IterationReport collective_run(std::span<double> x, double scale);
  solver::IterationReport collective_iterate(double scale);

  std::shared_ptr<Job::State> job;
  comm_thread::Communicator space;  // messages of this iteration alone
  library::IterationSettings settings;
  library::CallerSweeper sweeper;
  Monitor monitor;
};

solver::IterationReport Iteration::State::collective_iterate(double scale) {
  const auto show = [this](std::int64_t iteration, double residual) {
    if (monitor) static_cast<void>(monitor(iteration, residual));
  };
  if (settings.variant == IterationVariant::synchronous) {
    solver::SyncIteration iteration(space, job->job->comm_thread(), sweeper,
                                    {.mode = settings.mode,
                                     .transport = settings.transport,
                                     .tolerance = settings.tolerance,
                                     .max_iterations = settings.max_iterations,
                                     .check_period = settings.sweeps_per_check(),
                                     .halo_period = settings.halo_period,
                                     .on_check = show});
    return iteration.run(scale);
  }
  solver::AsyncIteration iteration(
      space, job->job->comm_thread(), sweeper,
      {.delivery = settings.variant == IterationVariant::racy ? comm_thread::Delivery::racy
                                                              : comm_thread::Delivery::async,
       .transport = settings.transport,
       .max_in_flight = settings.max_in_flight,
       .halo_period = settings.halo_period,
       .contribution_period = settings.sweeps_per_check(),
       .detector = settings.detector,
       .tolerance = settings.tolerance,
       .max_iterations = settings.max_iterations,
       .on_contribution = show});
  return iteration.run(scale);
}

IterationReport Iteration::State::collective_run(std::span<double> x, double scale) {
  sweeper.use(x);
  const solver::IterationReport done = collective_iterate(scale);
  std::ranges::copy(sweeper.values(), x.begin());
  IterationReport report;
  report.status = status_of(done.status);
  report.explanation = done.explanation;
  report.iterations = done.iterations;
  report.residual = done.relative_residual;
  report.seconds = done.seconds;
  if (done.detection) {
    report.verdicts = static_cast<std::int64_t>(done.detection->fired_count);
    report.failed_verifications =
        static_cast<std::int64_t>(done.detection->failed_verification_count);
    report.detection_delay_seconds = done.detection->delay_seconds;
  }
  report.messages_sent = static_cast<std::int64_t>(done.sent_count);
  report.messages_received = static_cast<std::int64_t>(done.received_count);
  return report;
}

Iteration::Iteration(const Job& job, const UserIteration& user, const Options& options)
    : state_(guarded([&] { return std::make_unique<State>(job.state(), user, options); })) {}

Iteration::Iteration(Iteration&&) noexcept = default;
Iteration& Iteration::operator=(Iteration&&) noexcept = default;
Iteration::~Iteration() = default;

IterationReport Iteration::run(std::span<double> x, double scale) {
  return guarded([&] { return state_->collective_run(x, scale); });
}

void Iteration::set_monitor(Monitor monitor) { state_->monitor = std::move(monitor); }

}  // namespace v0
}  // namespace weft
