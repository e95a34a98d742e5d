#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/audit.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/placement/placement.h"
#include "comm_thread/placement/topology.h"

namespace weft::tools {

/// The ranks, threads and cores that a command runs on: plans the placement with the other ranks of
/// the node, pins the compute team and the communication thread, and starts both.
///
/// Collective. Throws comm_thread::InputError on every rank when the placement is refused.
/// Lifetime: inside that of `session`.
class Job {
 public:
  /// `threads_wanted`: compute threads per rank; 0: as many as there are cores.
  /// `strict`: with `threads_wanted`, refuse to let two compute threads share a hardware thread.
  Job(const comm_thread::MpiSession& session, int threads_wanted, bool strict);

  const comm_thread::MpiSession& session() const { return session_; }
  const comm_thread::Communicator& world() const { return world_; }
  /// The message space of everything that the communication thread does.
  const comm_thread::Communicator& comm_thread_world() const { return comm_thread_world_; }
  const comm_thread::Topology& topology() const { return topology_; }
  const comm_thread::Placement& placement() const { return placement_; }
  const comm_thread::ComputeTeam& team() const { return *team_; }
  comm_thread::CommThread& comm_thread() { return *comm_thread_; }

  bool is_root() const { return world_.is_root(); }
  int rank_on_node() const { return rank_on_node_; }
  int ranks_on_node() const { return ranks_on_node_; }

  /// Reads back where the compute threads really are. Thread: the main thread.
  std::vector<comm_thread::ThreadAudit> audit_compute_threads() const;
  /// The same for the communication thread; none where there is no such thread.
  std::optional<comm_thread::ThreadAudit> audit_communication_thread();

 private:
  void plan(int threads_wanted, bool strict);
  void start_threads();

  const comm_thread::MpiSession& session_;
  comm_thread::Communicator world_;
  comm_thread::Communicator comm_thread_world_;
  comm_thread::Topology topology_;
  comm_thread::Placement placement_;
  int rank_on_node_ = 0;
  int ranks_on_node_ = 1;
  std::unique_ptr<comm_thread::ComputeTeam> team_;
  std::unique_ptr<comm_thread::CommThread> comm_thread_;
};

}  // namespace weft::tools
