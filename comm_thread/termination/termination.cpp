#include "comm_thread/termination/termination.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/termination/flag_detector.h"
#include "comm_thread/termination/reduction_detector.h"

namespace weft::comm_thread {
namespace {

constexpr int snapshot_tag = 0;
constexpr int report_tag = 1;
constexpr std::size_t grid_size = 1024;

}  // namespace

Termination::Termination(const Communicator& communicator, CommThread& comm_thread,
                         const Options& options)
    : Termination(static_cast<const MessageSpace&>(communicator), comm_thread, options) {
  communicator.barrier();
  began_ = comm_thread_.clock().seconds();
}

Termination::Termination(const MessageSpace& space, CommThread& comm_thread, const Options& options,
                         std::unique_ptr<Detector> detector)
    : space_(space.collective_duplicate_space()),
      comm_thread_(comm_thread),
      exceptions_at_start_(std::uncaught_exceptions()),
      threshold_(options.threshold),
      operation_(options.operation),
      protocol_(options.threshold),
      service_(detector ? std::move(detector) : collective_make_detector(options),
               comm_thread.clock()),
      history_(options.history_capacity) {
  if (options.detector == DetectorKind::snapshot)
    snapshot_exchange_ =
        std::make_unique<HaloExchange<double>>(*space_, options.neighbours, snapshot_tag);
  comm_thread_.add_service(service_);
  is_registered_ = true;
  began_ = comm_thread_.clock().seconds();
}

Termination::~Termination() {
  if (std::uncaught_exceptions() > exceptions_at_start_) abandon();
  if (!is_registered_) return;
  try {
    comm_thread_.remove_service(service_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): it is the exception that brought us here
  }
}

/// Operations in flight can no longer complete and MPI may still write to their memory: it stays
/// allocated.
void Termination::abandon() noexcept {
  if (is_registered_) {
    try {
      comm_thread_.remove_service(service_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the exception on its way says more
    }
  }
  is_registered_ = false;
  service_.abandon();
  static_cast<void>(snapshot_exchange_.release());  // NOLINT(bugprone-unused-return-value)
}

std::unique_ptr<Detector> Termination::collective_make_detector(const Options& options) {
  if (options.detector == DetectorKind::flags)
    return std::make_unique<FlagDetector>(*space_, comm_thread_);
  const bool is_library = options.detector == DetectorKind::all_reduce;
  return std::make_unique<ReductionDetector>(
      *space_, comm_thread_,
      ReductionProtocol::Options{
          .threshold = options.threshold,
          .operation = options.operation,
          .rank_count = space_->size(),
          .confirms_by_snapshot = options.detector == DetectorKind::snapshot},
      is_library ? ContinuousReduction::Engine::library : ContinuousReduction::Engine::tree);
}

double Termination::seconds_now() const { return comm_thread_.clock().seconds() - began_; }

SweepAction Termination::after_sweep(const SweepState& state) {
  history_.record(seconds_now(), state.contribution, state.iteration);
  const bool has_arrived = !snapshot_ || snapshot_->test();
  if (has_arrived && snapshot_) snapshot_->wait();  // throws its error
  const TimedOrder& newest = service_.newest_order();
  const SweepAction action = protocol_.after_sweep(state, newest.order, has_arrived);
  service_.publish(protocol_.signal());
  comm_thread_.progress_services_here();
  service_.rethrow_error();
  if (action == SweepAction::verify) {
    fired_seconds_ = newest.seconds - began_;
    terminated_seconds_ = seconds_now();
    iteration_ = state.iteration;
  }
  return action;
}

std::span<double> Termination::snapshot_send_buffer() { return snapshot_exchange_->send_buffer(); }

void Termination::snapshot_recorded() {
  protocol_.snapshot_recorded();
  snapshot_ = snapshot_exchange_->post(comm_thread_);
}

void Termination::snapshot_evaluated(double contribution) {
  protocol_.snapshot_evaluated(contribution);
  service_.publish(protocol_.signal());
}

bool Termination::collective_verified(double true_value) {
  if (snapshot_) snapshot_->wait();  // left open by a rank that gave up
  const bool has_ended = verified(true_value);
  if (has_ended) leave();
  return has_ended;
}

bool Termination::verified(double true_value) {
  const bool has_ended = protocol_.verified(true_value);
  service_.publish(protocol_.signal());
  return has_ended;
}

void Termination::leave() {
  comm_thread_.wait_for(
      [this] {
        service_.rethrow_error();
        return service_.is_drained();
      },
      [] { return std::string("the last signals of termination detection"); });
  detach();
}

void Termination::detach() {
  is_registered_ = false;
  comm_thread_.remove_service(service_);
}

/// Finds the last point of a common grid in time at which the contributions of all ranks together
/// exceeded the threshold.
double Termination::collective_true_seconds(double terminated_seconds) {
  AllReduce reduce(*space_, operation_, grid_size, report_tag);
  const double step = terminated_seconds / grid_size;
  const auto time = [step](std::size_t point) { return step * static_cast<double>(point + 1); };
  for (std::size_t point = 0; point < grid_size; ++point)
    reduce.values()[point] = history_.contribution_at(time(point));
  reduce.post(comm_thread_).wait();
  std::size_t point = grid_size;
  while (point > 0 && reduce.values()[point - 1] <= threshold_) --point;
  return point == grid_size ? terminated_seconds : point == 0 ? 0 : time(point);
}

DetectionReport Termination::collective_report(const Communicator& communicator) {
  DetectionReport report;
  report.has_converged = has_converged();
  report.fired_count = protocol_.signal().epoch;
  report.failed_verification_count = report.fired_count - (has_converged() ? 1 : 0);
  report.fired_seconds = communicator.min(fired_seconds_);
  report.terminated_seconds = communicator.max(terminated_seconds_);
  report.true_seconds = collective_true_seconds(report.terminated_seconds);
  report.delay_seconds = report.terminated_seconds - report.true_seconds;
  const std::uint64_t useful = std::min(iteration_, history_.iteration_at(report.true_seconds));
  const auto wasted = static_cast<double>(iteration_ - useful);
  report.fewest_wasted_sweeps = communicator.min(wasted);
  report.most_wasted_sweeps = communicator.max(wasted);
  report.mean_wasted_sweeps = communicator.sum(wasted) / communicator.size();
  return report;
}

}  // namespace weft::comm_thread
