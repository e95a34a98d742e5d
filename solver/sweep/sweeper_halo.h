#pragma once

#include <optional>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "solver/sweep/halo_refresh.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// Refreshes halos by schedules of persistent requests: the ordinary way.
class SweeperHalo final : public HaloRefresh {
 public:
  /// Collective: takes a message space of its own. `comm_thread` and `sweeper` outlive it.
  SweeperHalo(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
              Sweeper& sweeper, HaloWait wait = HaloWait::all);
  SweeperHalo(const SweeperHalo&) = delete;
  SweeperHalo& operator=(const SweeperHalo&) = delete;

  bool has_neighbours() const override { return exchange_.has_neighbours(); }
  void start(const comm_thread::TeamThread& thread, spmv::Mode mode,
             IterationTimer& timer) override;
  void finish(const comm_thread::TeamThread& thread, IterationTimer& timer) override;

 private:
  void unpack(const comm_thread::TeamThread& thread, std::size_t neighbour);
  void unpack_in_turn(const comm_thread::TeamThread& thread, IterationTimer& timer);

  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  Sweeper& sweeper_;
  HaloWait wait_;
  comm_thread::HaloExchange<double> exchange_;
  std::optional<comm_thread::Pending> pending_;  // of the primary thread
};

}  // namespace weft::solver
