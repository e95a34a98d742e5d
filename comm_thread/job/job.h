#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/crew.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/launcher_check.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/audit.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/placement/node_memory.h"
#include "comm_thread/placement/placement.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

/// What a job does about the cores that its threads run on.
enum class Pinning {
  pin,  ///< binds every thread to its planned hardware thread, until the job ends
  keep,  ///< binds nothing: threads run where the caller and OpenMP let them
  none,  ///< as `keep`, but OpenMP's binding of the caller does not hold for the communication
         ///< thread
};

struct JobOptions {
  /// Compute threads per rank; 0: as many as there are cores.
  int threads = 0;
  /// With `threads`: refuses to let two compute threads share a hardware thread.
  bool strict_placement = false;
  Pinning pinning = Pinning::pin;
  /// With `pin`: places threads on all cores that the cpuset permits, whatever mask the process was
  /// started with (taskset, a job).
  bool pin_beyond_mask = false;
  /// The environment, to name what has narrowed the mask, and what memory
  /// the job was allocated; may be empty.
  Variable variable{};
  /// As in CommThread::Options.
  std::function<void(const std::string& awaited, double seconds)> on_stall{};
  double stall_seconds = 10;
};

/// The ranks, threads and cores that a program runs on: plans the placement with the other ranks of
/// the node, pins the compute team and the communication thread, and starts both.
///
/// `Job job;` also starts MPI where the program has not done so; MPI ends with the job that started
/// it and does not start again.
/// Thread: the main thread. Collective over all processes. Throws InputError on every rank when the
/// placement is refused.
class Job {
 public:
  explicit Job(JobOptions options = {});
  /// Lifetime: inside that of `session`.
  explicit Job(const MpiSession& session, JobOptions options = {});
  /// A job of the ranks of `world`; MPI has been initialised. Other ranks may have a job of their
  /// own at the same time: then no thread is pinned, because the jobs of a node would choose the
  /// same cores, and a finding says so. Collective over `world`.
  explicit Job(Communicator world, JobOptions options = {});
  /// Gives the caller's threads the binding back that they had before.
  ~Job();

  const MpiSession& session() const { return session_; }
  const Communicator& world() const { return world_; }
  /// The ranks of this node.
  const Communicator& node() const { return node_; }
  /// The message space of everything that the communication thread does.
  const Communicator& comm_thread_world() const { return comm_thread_world_; }
  const Topology& topology() const { return topology_; }
  const Placement& placement() const { return placement_; }
  const ComputeTeam& team() const { return *team_; }
  CommThread& comm_thread() { return *comm_thread_; }
  Crew crew() { return {comm_thread_world_, *comm_thread_, *team_}; }

  bool is_root() const { return world_.is_root(); }
  /// Memory that the processes of this node may still take.
  NodeMemory node_memory() const { return comm_thread::node_memory(variable_); }

  int rank_on_node() const { return node_.rank(); }
  int ranks_on_node() const { return node_.size(); }

  /// Reads back where the compute threads really are. Thread: the main thread.
  std::vector<ThreadAudit> audit_compute_threads() const;
  /// The same for the communication thread; none where there is no such thread.
  std::optional<ThreadAudit> audit_communication_thread();

 private:
  /// `world`: none for all processes, once the session has begun.
  Job(std::unique_ptr<MpiSession> own, const MpiSession* callers, std::optional<Communicator> world,
      JobOptions options);
  void plan(JobOptions& options);
  void add_findings(bool gives_up_pinning);
  /// Binds the calling thread to `pu`; where threads have to take turns, to the home of the rank,
  /// within which the scheduler moves them.
  std::optional<PlacementFinding> bind_as_planned(unsigned pu) const;
  void start_threads(JobOptions options);

  std::unique_ptr<MpiSession> own_session_;  // null where the caller has one
  const MpiSession& session_;
  Communicator world_;
  Communicator comm_thread_world_;
  Communicator node_;
  Topology topology_;
  Placement placement_;
  Variable variable_;
  bool binds_ = false;
  std::vector<unsigned> callers_binding_;
  std::vector<unsigned> given_pus_;  // of this process
  std::vector<std::vector<unsigned>> bindings_before_;  // of each compute thread
  std::unique_ptr<ComputeTeam> team_;
  std::unique_ptr<CommThread> comm_thread_;
};

}  // namespace weft::comm_thread
