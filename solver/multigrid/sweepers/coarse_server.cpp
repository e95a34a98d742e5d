#include "solver/multigrid/sweepers/coarse_server.h"

#include <algorithm>
#include <utility>

#include "perfmodel/stopwatch.h"
#include "solver/multigrid/sweepers/growing_nap.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// Own times between two solutions that slower ranks are given at most. A correction to a state
/// that a slow rank is about to change gains little, and takes processors and memory traffic from
/// it: with one rank 8 times as slow, 2 such times took 12 corrections of that rank and 20 take 8.
constexpr double patience = 20;

/// Seconds that they are given at least: some ways of a message through a slow network.
constexpr double least_patience = 5e-3;

/// Seconds of it in which the server polls; then it naps between two looks.
constexpr double longest_poll = 100e-6;

/// Calls row(y, z, place of its first value in a message with `box`) for the rows of `box` in a
/// thread's share of the planes of `all`.
template <class Row>
void for_each_row(const TeamThread& thread, const GridBox& all, const GridBox& box,
                  const Row& row) {
  const auto [begin, end] = comm_thread::share_of(all.size(2), thread.index, thread.count);
  for (GlobalIndex z = std::max(box.begin[2], begin); z < std::min(box.end[2], end); ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
      row(y, z,
          static_cast<std::size_t>(box.size(0) *
                                   (y - box.begin[1] + box.size(1) * (z - box.begin[2]))));
}

}  // namespace

CoarseServer::CoarseServer(const std::vector<GridLevel>& levels, std::size_t gathered,
                           const comm_thread::ComputeTeam& team,
                           comm_thread::CommThread& comm_thread, comm_thread::ChannelSet& channels,
                           std::vector<CoarseMessages> messages, int steps)
    : comm_thread_(comm_thread),
      channels_(channels),
      points_(levels[gathered].points()),
      grids_(levels, gathered, team, steps),
      sum_(static_cast<std::size_t>(points_.point_count())) {
  for (CoarseMessages& of_rank : messages)
    clients_.push_back({.messages = std::move(of_rank),
                        .question = {},
                        .answered_version = -1,
                        .is_expected = true,
                        .answer = {}});
  own_question_.resize(clients_.front().messages.question_size());
  own_answer_.resize(clients_.front().messages.answer_size());
}

bool CoarseServer::has_asked_anew(const Client& client) const {
  return !client.question.empty() &&
         CoarseMessages::version_at(client.question, 0) > client.answered_version;
}

void CoarseServer::take_questions() {
  clients_.front().question = own_question_;
  for (std::size_t rank = 1; rank < clients_.size(); ++rank)
    if (channels_[rank - 1].can_receive())
      clients_[rank].question = channels_[rank - 1].receive().values;
}

void CoarseServer::wait_for_clients() {
  const double begin = perfmodel::seconds_now();
  // Before the first solution a rank may be told to end before it asks: nobody waits for it long.
  const double own_seconds = solve_count_ > 0 ? begin - idle_since_ : 0;
  const double end = begin + std::max(least_patience, patience * own_seconds);
  take_questions();
  const auto is_complete = [&] {
    return std::ranges::all_of(clients_, [&](const Client& client) {
      return !client.is_expected || has_asked_anew(client);
    });
  };
  comm_thread_.wait_for(
      [&] {
        take_questions();
        return is_complete() || perfmodel::seconds_now() > std::min(end, begin + longest_poll);
      },
      [] { return std::string("questions to the coarser grids"); });
  GrowingNap nap;
  while (!is_complete() && perfmodel::seconds_now() < end) {
    nap.take();
    comm_thread_.progress_services_here();
    take_questions();
  }
  for (Client& client : clients_) client.is_expected = has_asked_anew(client);
  is_ready_ =
      std::ranges::none_of(clients_, [](const Client& client) { return client.question.empty(); });
}

void CoarseServer::add_shares(const TeamThread& thread) {
  const auto row_of = [&](GlobalIndex y, GlobalIndex z) {
    return sum_.data() + points_.size(0) * (y + points_.size(1) * z);
  };
  for_each_row(thread, points_, points_, [&](GlobalIndex y, GlobalIndex z, std::size_t) {
    std::fill_n(row_of(y, z), points_.size(0), 0.0);
  });
  for (const Client& client : clients_) {
    const GridBox& box = client.messages.asked;
    const auto share = CoarseMessages::share_of(client.question);
    for_each_row(thread, points_, box, [&](GlobalIndex y, GlobalIndex z, std::size_t first) {
      double* const sum = row_of(y, z) + box.begin[0];
      const double* const part = share.data() + first;
      for (GlobalIndex i = 0; i < box.size(0); ++i) sum[i] += part[i];
    });
  }
  for_each_row(thread, points_, points_, [&](GlobalIndex y, GlobalIndex z, std::size_t) {
    std::copy_n(row_of(y, z), points_.size(0), grids_.right_hand_side().row(y, z));
  });
}

void CoarseServer::write_versions(Client& client) {
  if (client.answer.empty()) return;
  client.answered_version = CoarseMessages::version_at(client.question, 0);
  CoarseMessages::set_version(client.answer, 0, client.answered_version);
  for (std::size_t i = 0; i < client.messages.neighbours.size(); ++i) {
    const auto rank = static_cast<std::size_t>(client.messages.neighbours[i]);
    CoarseMessages::set_version(client.answer, 1 + i,
                                CoarseMessages::version_at(clients_[rank].question, 0));
  }
}

void CoarseServer::write_answers(const TeamThread& thread) {
  for (Client& client : clients_) {
    if (client.answer.empty()) continue;
    const GridBox& box = client.messages.answered;
    const auto values = client.messages.solution_of(client.answer);
    for_each_row(thread, points_, box, [&](GlobalIndex y, GlobalIndex z, std::size_t first) {
      std::copy_n(grids_.solution().row(y, z) + box.begin[0], box.size(0), values.data() + first);
    });
  }
}

bool CoarseServer::serve(const TeamThread& thread) {
  if (thread.is_primary()) wait_for_clients();
  thread.barrier();
  if (!is_ready_) return false;
  add_shares(thread);
  thread.barrier();
  grids_.solve(thread);
  if (thread.is_primary()) {
    clients_.front().answer = own_answer_;
    for (std::size_t rank = 1; rank < clients_.size(); ++rank)
      clients_[rank].answer = has_asked_anew(clients_[rank]) && channels_[rank - 1].can_send()
                                  ? channels_[rank - 1].outgoing()
                                  : std::span<double>();
    for (Client& client : clients_) write_versions(client);
  }
  thread.barrier();
  write_answers(thread);
  thread.barrier();
  if (thread.is_primary()) {
    ++solve_count_;
    for (std::size_t rank = 1; rank < clients_.size(); ++rank)
      if (!clients_[rank].answer.empty())
        channels_[rank - 1].send(static_cast<std::uint64_t>(solve_count_));
    idle_since_ = perfmodel::seconds_now();
  }
  thread.barrier();
  return true;
}

}  // namespace weft::solver
