#pragma once

#include <optional>
#include <vector>

#include "comm_thread/comm_thread.h"
#include "comm_thread/communicator.h"
#include "comm_thread/halo_exchange.h"
#include "solver/iteration_timer.h"
#include "solver/subdomain.h"
#include "spmv/mode.h"

namespace weft::solver {

/// Refreshes the halo of a subdomain with the current values of its neighbours, who do the same.
///
///     halo.start(thread, mode, timer);   // pack, barrier; the primary thread starts the exchange
///     subdomain.sweep(thread, SweepPart::interior, nullptr);
///     halo.finish(thread, timer);        // wait, barrier, unpack, barrier
///     subdomain.sweep(thread, SweepPart::boundary, nullptr);
///
/// Thread: every thread of the team, with a barrier between the last change of the values and
/// `start`. Where there are no neighbours nothing is done, and nobody waits.
class SubdomainHalo {
 public:
  /// Collective: takes a message space of its own. `comm_thread` and `subdomain` outlive it.
  SubdomainHalo(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                Subdomain& subdomain);
  SubdomainHalo(const SubdomainHalo&) = delete;
  SubdomainHalo& operator=(const SubdomainHalo&) = delete;

  bool has_neighbours() const { return exchange_.has_neighbours(); }

  /// In task mode the communication thread exchanges, in the others the primary thread.
  void start(const comm_thread::TeamThread& thread, spmv::Mode mode, IterationTimer& timer);

  /// Returns when the halo may be read. Throws MpiError.
  void finish(const comm_thread::TeamThread& thread, IterationTimer& timer);

 private:
  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  Subdomain& subdomain_;
  std::vector<double> received_;
  comm_thread::HaloExchange exchange_;
  std::optional<comm_thread::Pending> pending_;  // of the primary thread
};

}  // namespace weft::solver
