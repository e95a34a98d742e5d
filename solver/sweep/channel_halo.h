#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// Sends the current values of a sweeper to its neighbours and makes what they have sent last its
/// halo, over channels, without ever waiting for anybody but the own team.
///
///     primary:       halo.plan(iteration, is_sending);
///                    barrier
///     every thread:  halo.copy(thread);   // pack and unpack; a barrier if there was anything
///     primary:       halo.send(iteration);
///
/// Memory ordering: the plan is made by the primary thread while all others wait, and read by all
/// after the barrier; values arrive in the landing of a channel, which nobody but the next `plan`
/// changes.
class ChannelHalo {
 public:
  struct Options {
    comm_thread::Delivery delivery = comm_thread::Delivery::async;
    comm_thread::TransportChoice transport{};
    int max_in_flight = 1;
  };

  /// Generation that was copied last.
  struct Traffic {
    std::uint64_t sent_count = 0;
    std::uint64_t skipped_count = 0;  // not sent, because the channel was full
    std::uint64_t unpacked_count = 0;
  };

  /// Collective. Lifetime and errors: as ChannelSet. `sweeper` outlives it.
  ChannelHalo(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
              Sweeper& sweeper, const Options& options);

  /// Looks at all channels: what has come, and where there is room if `is_sending`. `iteration`:
  /// own sweeps so far.
  void plan(std::int64_t iteration, bool is_sending);

  /// Nothing is to be copied.
  void plan_nothing();

  /// Does what is planned. Thread: every thread of the team.
  void copy(const comm_thread::TeamThread& thread);

  /// Sends what was packed. Thread: the primary one.
  void send(std::int64_t iteration);

  const Traffic& traffic() const { return traffic_; }

  /// Messages that have come so far.
  std::uint64_t message_count() const { return received_count_; }

  /// Returns when nothing is in flight between any ranks. Collective.
  void collective_close();

  /// Adds what it has counted: staleness, batches, messages. After `collective_close`.
  void report(IterationReport& report) const;

 private:
  struct Link {
    bool is_sending = false;
    bool has_arrived = false;
    std::span<double> outgoing;
    std::span<const double> received;
    std::uint64_t neighbours_iteration = 0;  // of the data in use
  };

  void receive_newest(std::size_t i);

  Sweeper& sweeper_;
  comm_thread::ChannelSet channels_;
  std::vector<Link> links_;  // one for each neighbour
  bool is_anything_planned_ = false;
  Traffic traffic_;
  Traffic total_;
  std::uint64_t received_count_ = 0;
  Histogram staleness_;
  Histogram batches_;
};

}  // namespace weft::solver
