#include "comm_thread/job/job.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/cpu_quota.h"
#include "comm_thread/placement/given_pus.h"
#include "comm_thread/placement/launcher_mask.h"
#include "comm_thread/placement/openmp_places.h"
#include "comm_thread/placement/thread_binding.h"
#include "perfmodel/simd.h"

namespace weft::comm_thread {
namespace {

std::vector<std::vector<unsigned>> gather_on_node(const Communicator& node,
                                                  const std::vector<unsigned>& pus) {
  const std::vector<std::int64_t> mine(pus.begin(), pus.end());
  std::vector<std::vector<unsigned>> all;
  for (const auto& list : node.all_gather(mine)) all.emplace_back(list.begin(), list.end());
  return all;
}

std::vector<std::vector<CpuQuota>> gather_on_node(const Communicator& node,
                                                  const std::vector<CpuQuota>& quotas) {
  std::vector<std::int64_t> mine;
  for (const CpuQuota& quota : quotas)
    mine.insert(mine.end(), {quota.group, quota.quota_microseconds, quota.period_microseconds});
  std::vector<std::vector<CpuQuota>> all;
  for (const auto& numbers : node.all_gather(mine)) {
    all.emplace_back();
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
      all.back().push_back({numbers[i], numbers[i + 1], numbers[i + 2], {}});
  }
  all[static_cast<std::size_t>(node.rank())] = quotas;  // with the names of the files
  return all;
}

std::string first_refusal(const std::vector<PlacementFinding>& findings) {
  for (const auto& finding : findings)
    if (finding.severity == FindingSeverity::refused) return finding.text;
  return {};
}

/// Ranks of MPI_COMM_WORLD.
int process_count() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace

Job::Job(JobOptions options)
    : Job(std::make_unique<MpiSession>(), nullptr, std::nullopt, std::move(options)) {}

Job::Job(const MpiSession& session, JobOptions options)
    : Job(nullptr, &session, std::nullopt, std::move(options)) {}

Job::Job(Communicator world, JobOptions options)
    : Job(std::make_unique<MpiSession>(), nullptr, std::move(world), std::move(options)) {}

Job::Job(std::unique_ptr<MpiSession> own, const MpiSession* callers,
         std::optional<Communicator> world, JobOptions options)
    : own_session_(std::move(own)),
      session_(own_session_ ? *own_session_ : *callers),
      world_(world ? std::move(*world) : Communicator::collective_world()),
      comm_thread_world_(world_.collective_duplicate()),
      node_(world_.collective_split_node()),
      topology_(Topology::from_this_machine()),
      variable_(options.variable) {
  try {
    plan(options);
    collective_attempt(world_, [&] {
      if (const auto fault = perfmodel::instruction_set_fault()) throw InputError(*fault);
      start_threads(std::move(options));
    });
  } catch (const InputError&) {
    if (own_session_) own_session_->expect_exception_on_all_ranks();
    throw;
  }
}

Job::~Job() {
  comm_thread_.reset();
  if (!binds_ || !team_) return;
  team_->run([&](const TeamThread& thread) {
    const auto& before = bindings_before_[static_cast<std::size_t>(thread.index)];
    if (!before.empty()) topology_.bind_calling_thread(before);
  });
}

void Job::plan(JobOptions& options) {
  // Other jobs of the node might choose the same cores.
  const bool may_pin = world_.size() == process_count();
  const bool gives_up_pinning = options.pinning == Pinning::pin && !may_pin;
  if (gives_up_pinning) options.pinning = Pinning::keep;

  const std::vector<unsigned> permitted = permitted_pus_of_this_process(topology_);
  callers_binding_ = binding_of_this_thread(topology_);
  OpenmpPlaces places = openmp_places();
  if (!callers_binding_.empty()) topology_.bind_calling_thread(callers_binding_);
  const GivenPus given = given_pus({
      .permitted = permitted,
      .bound = callers_binding_,
      .places = std::move(places),
      .variable = options.variable,
      .find_launcher = [](std::span<const unsigned> own) { return find_launcher_mask(own); },
      .pins = options.pinning == Pinning::pin,
      .pins_beyond_mask = options.pin_beyond_mask,
  });
  given_pus_ = given.home;

  PlacementRequest request;
  request.node.allowed_per_rank = gather_on_node(node_, permitted);
  request.node.bound_per_rank = gather_on_node(node_, given.home);
  request.node.reach_per_rank = gather_on_node(node_, given.reach);
  request.node.quotas_per_rank =
      gather_on_node(node_, topology_.is_this_machine() ? cpu_quotas() : std::vector<CpuQuota>());
  request.node.this_rank_on_node = node_.rank();
  request.node.mask_owner = given.owner;
  request.threads_wanted = options.threads;
  request.strict = options.strict_placement;
  placement_ = plan_placement(topology_, request);
  placement_.findings.insert(placement_.findings.begin(), given.findings.begin(),
                             given.findings.end());
  collective_agree_on_error(world_, first_refusal(placement_.findings));
  add_findings(gives_up_pinning);
}

/// Findings that are not of the placement itself.
void Job::add_findings(bool gives_up_pinning) {
  if (gives_up_pinning)
    placement_.findings.push_back(
        {FindingSeverity::note,
         "the job has not all processes: no thread is pinned, because other "
         "jobs of the node may choose the same cores"});
  if (session_.thread_level() != ThreadLevel::multiple)
    placement_.findings.push_back(
        {FindingSeverity::warning, "the MPI library gives " + name(session_.thread_level()) +
                                       ", not MPI_THREAD_MULTIPLE: there is no communication "
                                       "thread, the main thread progresses all messages"});
}

std::optional<PlacementFinding> Job::bind_as_planned(unsigned pu) const {
  if (!placement_.oversubscribed) return bind_this_thread(topology_, pu);
  topology_.bind_calling_thread(placement_.home);
  return std::nullopt;
}

void Job::start_threads(JobOptions options) {
  const bool is_bound = options.pinning == Pinning::pin;
  binds_ = is_bound && topology_.is_this_machine();
  // A rank alone has nothing for its communication thread to do.
  const bool has_company = world_.size() > 1;
  const auto& quota = placement_.quota;
  const bool lacks_time =
      quota && static_cast<double>(quota->compute_threads + (has_company ? quota->ranks : 0)) >
                   quota->quota.cores();
  const bool shares_core = placement_.oversubscribed || !is_bound || lacks_time ||
                           (placement_.comm_core == CommCore::shared_core && has_company);
  const WaitPolicy wait = shares_core ? WaitPolicy::yield : WaitPolicy::spin;
  const bool has_own_core = is_bound && !lacks_time && placement_.comm_core == CommCore::own_core;
  bindings_before_.resize(placement_.compute_pus.size());
  std::vector<std::optional<PlacementFinding>> failures(placement_.compute_pus.size());
  team_ = std::make_unique<ComputeTeam>(
      static_cast<int>(placement_.compute_pus.size()), wait, [this, &failures](int thread) {
        if (!binds_) return;
        const auto index = static_cast<std::size_t>(thread);
        // In a thread that OpenMP has not seen before, it has by now bound the caller.
        bindings_before_[index] = index == 0 ? callers_binding_ : binding_of_this_thread(topology_);
        failures[index] = bind_as_planned(placement_.compute_pus[index]);
      });
  if (!binds_ && !callers_binding_.empty()) topology_.bind_calling_thread(callers_binding_);
  for (const auto& failure : failures)
    if (failure) placement_.findings.push_back(*failure);
  comm_thread_ = std::make_unique<CommThread>(CommThread::Options{
      .thread_level = session_.thread_level(),
      .idle = has_own_core ? WaitPolicy::spin : WaitPolicy::yield,
      .wait = wait,
      .on_start =
          [this, pinning = options.pinning] {
            if (binds_) bind_as_planned(placement_.communication_pu);
            if (pinning == Pinning::none && !given_pus_.empty())
              topology_.bind_calling_thread(given_pus_);
          },
      .on_stall = std::move(options.on_stall),
      .stall_seconds = options.stall_seconds,
  });
}

std::vector<ThreadAudit> Job::audit_compute_threads() const {
  std::vector<ThreadAudit> audits(placement_.compute_pus.size());
  team_->run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    audits[index] =
        audit_this_thread(topology_, node_.rank(), thread.index, placement_.compute_pus[index]);
  });
  return audits;
}

std::optional<ThreadAudit> Job::audit_communication_thread() {
  if (!comm_thread_->has_thread()) return std::nullopt;
  // A schedule without messages: its local operation runs in the communication thread.
  ThreadAudit audit;
  Schedule::Builder builder(comm_thread_world_, "placement audit");
  builder.end_round(
      [&] { audit = audit_this_thread(topology_, node_.rank(), -1, placement_.communication_pu); });
  const auto schedule = builder.build();
  comm_thread_->post(*schedule).wait();
  return audit;
}

}  // namespace weft::comm_thread
