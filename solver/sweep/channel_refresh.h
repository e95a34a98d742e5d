#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "solver/sweep/halo_refresh.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// Refreshes halos over channels, so that synchronous sweeps ride on one-sided messages, shared
/// memory and OpenSHMEM too.
///
/// A channel hands over its newest message, and a neighbour may be one exchange ahead; so there are
/// two channels to each neighbour, for even and for odd exchanges. Nobody is two ahead: exchange
/// e + 2 begins when e + 1 has come from all neighbours, who have then read exchange e.
///
///     exchange      0     1     2     3          waits, before e is sent, for room:
///     even channel  ■           ■                the acknowledgement of e − 2
///     odd channel         ■           ■
///
/// The communication thread carries the messages in every mode.
/// Memory ordering: the primary thread talks to the channels, while the others wait; what is packed
/// and received passes to and from it by the team's barriers.
class ChannelRefresh final : public HaloRefresh {
 public:
  /// Collective, and so is destruction. `comm_thread` and `sweeper` outlive it.
  /// Throws comm_thread::InputError where channels cannot be made so (ChannelSet).
  ChannelRefresh(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, Sweeper& sweeper,
                 const comm_thread::TransportChoice& transport);

  bool has_neighbours() const override { return neighbour_count_ > 0; }
  void start(const comm_thread::TeamThread& thread, spmv::Mode mode,
             IterationTimer& timer) override;
  void finish(const comm_thread::TeamThread& thread, IterationTimer& timer) override;

 private:
  /// The channel to neighbour number `i` for an exchange.
  std::size_t channel(std::size_t i, std::uint64_t exchange) const { return 2 * i + exchange % 2; }
  /// Returns when the exchange in progress has arrived and there is room for the next.
  void wait_for_neighbours();
  bool is_done() const;
  std::string awaited() const;

  comm_thread::CommThread& comm_thread_;
  Sweeper& sweeper_;
  std::size_t neighbour_count_;
  comm_thread::ChannelSet channels_;
  std::vector<std::span<double>> outgoing_;  // of the next exchange
  std::vector<std::span<const double>> received_;  // in the last
  std::uint64_t exchange_ = 0;  // in progress, or the next
};

}  // namespace weft::solver
