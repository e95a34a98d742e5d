#include "tools/job/job.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/thread_binding.h"

namespace weft::tools {
namespace {

using comm_thread::CommCore;
using comm_thread::CommThread;
using comm_thread::ComputeTeam;
using comm_thread::FindingSeverity;
using comm_thread::ThreadLevel;
using comm_thread::WaitPolicy;

std::vector<std::vector<unsigned>> gather_on_node(const comm_thread::Communicator& node,
                                                  const std::vector<unsigned>& pus) {
  const std::vector<std::int64_t> mine(pus.begin(), pus.end());
  std::vector<std::vector<unsigned>> all;
  for (const auto& list : node.all_gather(mine)) all.emplace_back(list.begin(), list.end());
  return all;
}

std::string first_refusal(const std::vector<comm_thread::PlacementFinding>& findings) {
  for (const auto& finding : findings)
    if (finding.severity == FindingSeverity::refused) return finding.text;
  return {};
}

/// How long nothing may move before a rank says for whom it waits.
double stall_seconds() {
  constexpr double by_default = 10;
  const char* const text = std::getenv("WEFT_STALL_SECONDS");
  if (!text) return by_default;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || !std::isfinite(seconds))
    throw comm_thread::InputError(std::string("WEFT_STALL_SECONDS: found '") + text +
                                  "'; expected a number of seconds above 0");
  return seconds;
}

}  // namespace

Job::Job(const comm_thread::MpiSession& session, int threads_wanted, bool strict)
    : session_(session),
      world_(comm_thread::Communicator::collective_world()),
      comm_thread_world_(world_.collective_duplicate()),
      topology_(comm_thread::Topology::from_this_machine()) {
  plan(threads_wanted, strict);
  comm_thread::collective_attempt(world_, [this] { start_threads(); });
}

void Job::plan(int threads_wanted, bool strict) {
  const auto node = world_.collective_split_node();
  rank_on_node_ = node.rank();
  ranks_on_node_ = node.size();
  comm_thread::PlacementRequest request;
  request.node.allowed_per_rank =
      gather_on_node(node, comm_thread::permitted_pus_of_this_process(topology_));
  request.node.bound_per_rank =
      gather_on_node(node, comm_thread::binding_of_this_thread(topology_));
  request.node.this_rank_on_node = rank_on_node_;
  request.threads_wanted = threads_wanted;
  request.strict = strict;
  placement_ = comm_thread::plan_placement(topology_, request);
  comm_thread::collective_agree_on_error(world_, first_refusal(placement_.findings));
  if (session_.thread_level() != ThreadLevel::multiple)
    placement_.findings.push_back(
        {FindingSeverity::warning, "the MPI library gives " + name(session_.thread_level()) +
                                       ", not MPI_THREAD_MULTIPLE: there is no communication "
                                       "thread, the main thread progresses all messages"});
}

void Job::start_threads() {
  // Threads that have to take turns on a core are left to the scheduler.
  const bool pins = topology_.is_this_machine() && !placement_.oversubscribed;
  // A rank alone has nothing for its communication thread to do.
  const bool shares_core = placement_.oversubscribed ||
                           (placement_.comm_core == CommCore::shared_core && world_.size() > 1);
  const WaitPolicy wait = shares_core ? WaitPolicy::yield : WaitPolicy::spin;
  const bool has_own_core = placement_.comm_core == CommCore::own_core;
  team_ = std::make_unique<ComputeTeam>(
      static_cast<int>(placement_.compute_pus.size()), wait, [this, pins](int thread) {
        if (pins)
          comm_thread::bind_this_thread(topology_,
                                        placement_.compute_pus[static_cast<std::size_t>(thread)]);
      });
  comm_thread_ = std::make_unique<CommThread>(CommThread::Options{
      .thread_level = session_.thread_level(),
      .idle = has_own_core ? WaitPolicy::spin : WaitPolicy::yield,
      .wait = wait,
      .on_start =
          [this, pins] {
            if (pins) comm_thread::bind_this_thread(topology_, placement_.communication_pu);
          },
      .on_stall =
          [this](const std::string& awaited, double seconds) {
            std::fprintf(stderr, "weft: rank %d has been waiting for %.0f s: %s\n", world_.rank(),
                         seconds, awaited.c_str());
          },
      .stall_seconds = stall_seconds(),
  });
}

std::vector<comm_thread::ThreadAudit> Job::audit_compute_threads() const {
  std::vector<comm_thread::ThreadAudit> audits(placement_.compute_pus.size());
  team_->run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    audits[index] = comm_thread::audit_this_thread(topology_, rank_on_node_, thread.index,
                                                   placement_.compute_pus[index]);
  });
  return audits;
}

std::optional<comm_thread::ThreadAudit> Job::audit_communication_thread() {
  if (!comm_thread_->has_thread()) return std::nullopt;
  // A schedule without messages: its local operation runs in the communication thread.
  comm_thread::ThreadAudit audit;
  comm_thread::Schedule::Builder builder(comm_thread_world_, "placement audit");
  builder.end_round([&] {
    audit =
        comm_thread::audit_this_thread(topology_, rank_on_node_, -1, placement_.communication_pu);
  });
  const auto schedule = builder.build();
  comm_thread_->post(*schedule).wait();
  return audit;
}

}  // namespace weft::tools
