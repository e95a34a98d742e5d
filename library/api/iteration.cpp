#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/job_state.h"
#include "library/options/iteration_settings.h"
#include "library/solve/solve_description.h"
#include "library/solve/sweep_run.h"
#include "library/state/caller_sweeper.h"
#include "solver/report/iteration_report.h"

namespace weft {
inline namespace v0 {
namespace {

using library::guarded;

library::IterationSettings collective_settings(Job::State& job, const Options& options) {
  job.roll_call.collective_answer("making an iteration");
  library::IterationSettings settings;
  library::collective_agree_on(job.job->world(), "iteration", "", options, [&] {
    settings = library::IterationSettings::parse(options.all());
    settings.check();
    settings.check_faults(job.job->world().size(), "rank");
  });
  return settings;
}

}  // namespace

/// What a weft::Iteration owns. Members are destroyed in the reverse of their order.
struct Iteration::State {
  State(std::shared_ptr<Job::State> of_job, const UserIteration& user, const Options& options)
      : job(std::move(of_job)),
        settings(collective_settings(*job, options)),
        space(job->job->comm_thread_world().collective_duplicate()),
        sweeper(space, job->job->team(), user) {}

  IterationReport collective_run(std::span<double> x, double scale);
  void collective_judge(solver::IterationReport& done) const;

  std::shared_ptr<Job::State> job;
  library::IterationSettings settings;
  comm_thread::Communicator space;  // messages of this iteration alone
  library::CallerSweeper sweeper;
  Monitor monitor;
};

/// A residual that the rows of a large scale hide the others in is small after a few sweeps, which
/// still change x: such a run has not converged. Nothing is known here of rows; where they are
/// alike a sweep changes x by about as much as the residual says.
void Iteration::State::collective_judge(solver::IterationReport& done) const {
  const std::array<double, 2> change = sweeper.collective_last_change(space);
  if (done.status != solver::SolveStatus::converged ||
      !(change[0] > std::sqrt(settings.tolerance) * change[1]))
    return;
  done.status = solver::SolveStatus::not_converged;
  done.explanation = fmt::format(
      "the residual is small, but the last sweep changed x by {:.2g} of its largest value: rows "
      "may "
      "differ in scale; divide each row of the residual by its scale",
      change[0] / change[1]);
}

IterationReport Iteration::State::collective_run(std::span<double> x, double scale) {
  job->roll_call.collective_answer("an iteration");
  sweeper.use(x);
  const auto show = [this](std::int64_t iteration, double residual) {
    if (monitor) static_cast<void>(monitor(iteration, residual));
  };
  solver::IterationReport done = library::collective_sweep(space, job->job->comm_thread(), sweeper,
                                                           settings, scale, {.on_check = show});
  collective_judge(done);
  std::ranges::copy(sweeper.values(), x.begin());
  IterationReport report;
  report.status = library::status_of(done.status);
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
