#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/sweepers/coarse_grids.h"
#include "solver/multigrid/sweepers/coarse_messages.h"
#include "spmv/grid/box.h"

namespace weft::solver {

/// What rank 0 does for all in asynchronous multigrid: it has the gathered grid and all coarser
/// ones. Whenever it looks, it adds the newest shares of all ranks, new or old, makes one V-cycle
/// and answers those who have asked since.
///
/// It gives ranks that keep its pace a moment, so that it does not answer just before they ask. A
/// rank that lets the moment pass is not waited for until it asks again.
///
/// Memory ordering: the primary thread talks to the channels, while the others wait; what is summed
/// and packed passes to and from it by the team's barriers.
class CoarseServer {
 public:
  /// `channels`: one to each other rank, in ascending order. All outlive it.
  /// `messages`: of each rank; `gathered`: the grid.
  CoarseServer(const std::vector<GridLevel>& levels, std::size_t gathered,
               const comm_thread::ComputeTeam& team, comm_thread::CommThread& comm_thread,
               comm_thread::ChannelSet& channels, std::vector<CoarseMessages> messages, int steps);

  /// This rank's own question, written by `serve`'s caller, and the answer to it.
  std::span<double> question() { return own_question_; }
  std::span<const double> answer() const { return own_answer_; }

  /// Answers, once all ranks have asked at all; returns false before. Thread: every thread of
  /// the team, after a barrier. Ends with one.
  bool serve(const comm_thread::TeamThread& thread);

  std::int64_t solve_count() const { return solve_count_; }

 private:
  struct Client {
    CoarseMessages messages;
    std::span<const double> question;  // the newest
    std::int64_t answered_version = -1;
    bool is_expected = true;
    std::span<double> answer;  // to be sent now; empty where none is wanted or there is no room
  };

  void take_questions();
  void wait_for_clients();
  bool has_asked_anew(const Client& client) const;
  void add_shares(const comm_thread::TeamThread& thread);
  void write_answers(const comm_thread::TeamThread& thread);
  void write_versions(Client& client);

  comm_thread::CommThread& comm_thread_;
  comm_thread::ChannelSet& channels_;
  spmv::GridBox points_;  // of the gathered grid
  CoarseGrids grids_;
  std::vector<Client> clients_;  // [ranks]; this rank is the first
  std::vector<double> own_question_;
  std::vector<double> own_answer_;
  std::vector<double> sum_;  // of shares

  // Of the primary thread; the others read them after a barrier.
  bool is_ready_ = false;
  double idle_since_ = 0;  // end of the last `serve`
  std::int64_t solve_count_ = 0;
};

}  // namespace weft::solver
