#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "comm_thread/mpi/message_space.h"
#include "comm_thread/simulation/simulated_network.h"

namespace weft::comm_thread {

/// One simulated rank's place among all ranks of a network: what a Communicator is with MPI.
///
/// Sends are complete at once, because the network copies them; a receive is complete when the
/// message's time has come and the rank's CommThread is polled.
/// Thread: that of the network. Lifetime: inside that of the network.
class SimulatedSpace final : public MessageSpace {
 public:
  SimulatedSpace(SimulatedNetwork& network, int rank) : SimulatedSpace(network, rank, 1) {}

  std::unique_ptr<MessageSpace> collective_duplicate_space() const override;
  std::unique_ptr<PreparedMessages> prepare(std::span<const MessageDraft> drafts) const override;
  std::unique_ptr<PreparedReduction> prepare_reduction(
      std::span<const ReduceOperation> operations) const override;

 private:
  SimulatedSpace(SimulatedNetwork& network, int rank, std::uint64_t id)
      : MessageSpace(rank, network.rank_count()), network_(network), id_(id) {}

  SimulatedNetwork& network_;
  std::uint64_t id_;  // the same on all ranks
  mutable std::uint64_t duplicate_count_ = 0;
};

}  // namespace weft::comm_thread
