#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::comm_thread {

/// Everyone who works on a problem: the ranks, and this rank's communication thread and compute
/// team. A copy refers to the same ones, which outlive it.
class Crew {
 public:
  Crew(const Communicator& communicator, CommThread& comm_thread, const ComputeTeam& team)
      : communicator_(&communicator), comm_thread_(&comm_thread), team_(&team) {}

  const Communicator& communicator() const { return *communicator_; }
  CommThread& comm_thread() const { return *comm_thread_; }
  const ComputeTeam& team() const { return *team_; }

 private:
  const Communicator* communicator_;
  CommThread* comm_thread_;
  const ComputeTeam* team_;
};

}  // namespace weft::comm_thread
