#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::solver::amg {

/// The ranks, communication threads and compute teams that set up a hierarchy and apply it.
/// Lifetime: `comm_thread` and `team` outlive it.
class Crew {
 public:
  /// Collective: duplicates the communicator.
  Crew(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
       const comm_thread::ComputeTeam& team)
      : communicator_(communicator.collective_duplicate()),
        comm_thread_(comm_thread),
        team_(team) {}

  const comm_thread::Communicator& communicator() const { return communicator_; }
  comm_thread::CommThread& comm_thread() const { return comm_thread_; }
  const comm_thread::ComputeTeam& team() const { return team_; }

  /// A tag for a schedule that no other schedule has. Every rank makes the same calls.
  int new_tag() { return next_tag_++; }

 private:
  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  int next_tag_ = 0;
};

}  // namespace weft::solver::amg
