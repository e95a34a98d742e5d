#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/channels/transport.h"
#include "comm_thread/simulation/simulated_network.h"

namespace weft::comm_thread {

/// Whether a message is acknowledged when it has arrived, as with MPI_Ssend and posted receives, or
/// when the channel at the other end has released it, as with MPI_Put.
enum class Acknowledgement { on_arrival, on_release };

/// Carries the channels of one simulated rank.
///
/// A send slot is fixed until a later message needs more slots than there are; only the sender
/// makes room, when it asks for the slot of the next message.
/// Thread: that of the network. Lifetime: inside that of the network.
class SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(SimulatedNetwork& network, int rank, std::span<const LinkPlan> plans,
                     Acknowledgement acknowledgement);

  bool progress() override;
  std::span<std::byte> send_slot(std::size_t link, std::uint64_t number) override;
  void start(std::size_t link, std::uint64_t number) override;
  std::uint64_t acknowledged(std::size_t link) override;
  std::optional<std::span<const std::byte>> arrived(std::size_t link) override;
  void release(std::size_t link) override;
  void collective_close() override {}

  /// While it rests, channels are not looked at: what arrives waits for the next poll.
  void rest(bool rests) { rests_ = rests; }

  /// Fetch what the next step will look at into the caches: first the wires of all links with the
  /// messages behind them, then messages that have moved elsewhere because there were many.
  void fetch_wires() const;
  void fetch_moved_messages() const;

 private:
  struct Link {
    SimulatedNetwork::Wire* out;
    SimulatedNetwork::Wire* in;
    std::size_t send_bytes;
    std::size_t receive_bytes;
  };

  SimulatedNetwork& network_;
  bool rests_ = false;
  std::uint64_t looked_ = 0;  // the network's count when `due_` was found
  bool has_drafts_ = false;  // messages that are not started yet
  double due_ = 0;  // when the channels have to be looked at
  std::vector<Link> links_;
};

}  // namespace weft::comm_thread
