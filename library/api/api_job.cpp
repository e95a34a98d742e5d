#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "comm_thread/mpi/launcher_check.h"
#include "comm_thread/mpi/library_check.h"
#include "comm_thread/mpi/mpi_session.h"
#include "library/api/guarded.h"
#include "library/api/job_state.h"

namespace weft {
inline namespace v0 {
namespace {

bool is_mpi_over() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  return is_finalized != 0;
}

const char* variable(const char* name) { return std::getenv(name); }

/// Throws Error where the MPI library that is loaded is not weft's.
void expect_own_library() {
  const std::string fault = comm_thread::fault_of_handles();
  if (!fault.empty()) throw Error(ErrorCode::misuse, fault);
}

/// Throws Error where another MPI library is at work, too.
void expect_one_library() {
  const std::string fault = comm_thread::fault_of_other_libraries();
  if (!fault.empty()) throw Error(ErrorCode::misuse, fault);
}

/// Starts MPI once for the process, where it is not running; it ends at exit, because MPI cannot
/// start again and another job may follow.
void start_mpi() {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (is_initialised) return;
  // One launcher has started both, which would wait for the same words from it.
  const std::string library = comm_thread::library_in_use().version;
  if (comm_thread::launched_process_count(library, variable) > 1) expect_one_library();
  static comm_thread::MpiSession* session = nullptr;
  session = new comm_thread::MpiSession();
  // A process that was forked from this one leaves its parent's connections alone.
  static const pid_t owner = getpid();
  std::atexit([] {
    if (getpid() != owner || is_mpi_over()) return;
    comm_thread::RollCall::leave_all(std::numeric_limits<double>::infinity());
    delete session;
  });
}

comm_thread::Pinning pinning_of(Pinning pinning) {
  switch (pinning) {
    case Pinning::keep:
      return comm_thread::Pinning::keep;
    case Pinning::none:
      return comm_thread::Pinning::none;
    case Pinning::pin:
      break;
  }
  return comm_thread::Pinning::pin;
}

std::shared_ptr<Job::State> collective_make(MPI_Comm communicator, const JobOptions& options,
                                            bool is_of_caller) {
  if (is_mpi_over())
    throw Error(ErrorCode::misuse, "found MPI finalized; expected a job before MPI_Finalize");
  if (is_of_caller) expect_one_library();
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (!is_initialised)
    throw Error(ErrorCode::misuse, "found a communicator before MPI_Init; expected it after");
  if (communicator == MPI_COMM_NULL)
    throw Error(ErrorCode::bad_input, "found MPI_COMM_NULL; expected a communicator");
  if (options.pin_beyond_mask && options.pinning != Pinning::pin)
    throw Error(
        ErrorCode::bad_input,
        "pin_beyond_mask: found where no thread is pinned; expected it with pinning \"pin\"");
  if (!options.allow_singletons) {
    const std::string fault = comm_thread::fault_of_launcher(variable);
    if (!fault.empty())
      throw Error(ErrorCode::bad_input,
                  fault + ", or allow_singletons for jobs that do not know of each other");
  }
  return library::guarded([&] {
    auto world = comm_thread::Communicator::collective_duplicate_of(communicator);
    comm_thread::JobOptions wanted{.threads = options.threads,
                                   .strict_placement = options.strict_placement,
                                   .pinning = pinning_of(options.pinning),
                                   .pin_beyond_mask = options.pin_beyond_mask,
                                   .variable = variable,
                                   .on_stall = options.on_stall,
                                   .stall_seconds = options.stall_seconds};
    return std::make_shared<Job::State>(std::move(world), std::move(wanted));
  });
}

Finding::Severity severity_of(comm_thread::FindingSeverity severity) {
  switch (severity) {
    case comm_thread::FindingSeverity::repaired:
      return Finding::Severity::repaired;
    case comm_thread::FindingSeverity::warning:
      return Finding::Severity::warning;
    case comm_thread::FindingSeverity::refused:
      return Finding::Severity::refused;
    case comm_thread::FindingSeverity::note:
      break;
  }
  return Finding::Severity::note;
}

ThreadPlace place_of(const comm_thread::ThreadAudit& audit) {
  return {audit.thread, audit.planned_pu, audit.binding, audit.last_cpu};
}

}  // namespace

Job::State::State(comm_thread::Communicator world, comm_thread::JobOptions options)
    : roll_call(world.collective_duplicate()) {
  roll_call.collective_answer("making a job");
  job = std::make_unique<comm_thread::Job>(std::move(world), std::move(options));
}

Job::State::~State() {
  if (is_mpi_over()) static_cast<void>(job.release());
}

Job::Job(const JobOptions& options) {
  expect_own_library();
  if (!is_mpi_over()) start_mpi();
  state_ = collective_make(MPI_COMM_WORLD, options, false);
}

Job::Job(MPI_Comm communicator, const JobOptions& options) {
  expect_own_library();
  state_ = collective_make(communicator, options, true);
}

void Job::expect_all(const std::string& doing) const {
  library::guarded([&] { state_->roll_call.collective_answer(doing); });
}

void Job::decline(double limit_seconds) {
  expect_own_library();
  if (is_mpi_over()) return;
  start_mpi();
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  library::guarded([&] {
    auto world =
        comm_thread::Communicator::collective_duplicate_within(MPI_COMM_WORLD, limit_seconds);
    if (!world) return;
    comm_thread::RollCall roll_call(world->collective_duplicate());
    roll_call.leave();
    comm_thread::RollCall::leave_all(limit_seconds);
  });
}

int Job::rank() const { return state_->job->world().rank(); }
int Job::size() const { return state_->job->world().size(); }
int Job::thread_count() const { return state_->job->team().thread_count(); }
bool Job::has_communication_thread() const { return state_->job->comm_thread().has_thread(); }
MPI_Comm Job::communicator() const { return state_->job->world().handle(); }

std::vector<Finding> Job::findings() const {
  std::vector<Finding> findings;
  for (const auto& finding : state_->job->placement().findings)
    findings.push_back({severity_of(finding.severity), finding.text});
  return findings;
}

std::vector<ThreadPlace> Job::audit() const {
  return library::guarded([&] {
    std::vector<ThreadPlace> places;
    for (const auto& audit : state_->job->audit_compute_threads())
      places.push_back(place_of(audit));
    if (const auto audit = state_->job->audit_communication_thread())
      places.push_back(place_of(*audit));
    return places;
  });
}

}  // namespace v0
}  // namespace weft
