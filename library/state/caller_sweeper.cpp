#include "library/state/caller_sweeper.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using solver::SweepPart;
using solver::SweepState;

/// What is wrong with the iteration of this rank by itself; empty if nothing is.
std::string fault_of(const UserIteration& user, int rank, int size) {
  if (!user.update || !user.residual_square || (!user.neighbours.empty() && !user.pack))
    return fmt::format(
        "iteration of rank {}: found no function for update, residual_square or pack; expected all",
        rank);
  int last = -1;
  for (const auto& neighbour : user.neighbours) {
    if (neighbour.rank <= last || neighbour.rank >= size || neighbour.rank == rank)
      return fmt::format(
          "iteration of rank {}: found the neighbour {} after {}; expected other ranks from 0 to "
          "{}, ascending",
          rank, neighbour.rank, last, size - 1);
    if (neighbour.send_count < 0 || neighbour.receive_count < 0)
      return fmt::format("iteration of rank {}: found a negative number of values for rank {}",
                         rank, neighbour.rank);
    last = neighbour.rank;
  }
  return "";
}

/// The same for what its neighbours expect. Collective.
std::string collective_fault_between(const comm_thread::Communicator& communicator,
                                     const UserIteration& user) {
  comm_thread::Lists<std::int64_t> lists;
  std::map<int, std::int64_t> expected;
  for (const auto& neighbour : user.neighbours) {
    if (neighbour.send_count > 0) lists[neighbour.rank] = {neighbour.send_count};
    if (neighbour.receive_count > 0) expected[neighbour.rank] = neighbour.receive_count;
  }
  std::map<int, std::int64_t> announced;
  for (const auto& [rank, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(lists)))
    announced[rank] = list.front();
  for (const auto& [rank, count] : announced)
    if (!expected.contains(rank) || expected[rank] != count)
      return fmt::format("iteration: found {} values from rank {} for rank {}; it expects {}",
                         count, rank, communicator.rank(),
                         expected.contains(rank) ? expected[rank] : 0);
  for (const auto& [rank, count] : expected)
    if (!announced.contains(rank))
      return fmt::format("iteration: found no values from rank {} for rank {}; it expects {}", rank,
                         communicator.rank(), count);
  return "";
}

}  // namespace

CallerSweeper::CallerSweeper(const comm_thread::Communicator& communicator,
                             const comm_thread::ComputeTeam& team, UserIteration user)
    : team_(team), user_(std::move(user)) {
  comm_thread::collective_agree_on_error(communicator,
                                         fault_of(user_, communicator.rank(), communicator.size()));
  comm_thread::collective_agree_on_error(communicator,
                                         collective_fault_between(communicator, user_));
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (const auto& neighbour : user_.neighbours) {
    neighbours_.push_back({.rank = neighbour.rank,
                           .send_begin = sent,
                           .send_count = neighbour.send_count,
                           .receive_begin = received,
                           .receive_count = neighbour.receive_count});
    sent += neighbour.send_count;
    received += neighbour.receive_count;
  }
  current_.halo.assign(static_cast<std::size_t>(received), 0.0);
  recorded_.halo = current_.halo;
}

void CallerSweeper::use(std::span<const double> x) {
  current_.x.assign(x.begin(), x.end());
  recorded_.x = current_.x;
  next_ = current_.x;
  std::ranges::fill(current_.halo, 0.0);
}

std::array<double, 2> CallerSweeper::collective_last_change(
    const comm_thread::Communicator& communicator) const {
  std::array<double, 2> largest{};
  for (std::size_t i = 0; i < next_.size(); ++i) {
    largest[0] = std::max(largest[0], std::abs(current_.x[i] - next_[i]));
    largest[1] = std::max(largest[1], std::abs(current_.x[i]));
  }
  communicator.max(largest);
  return largest;
}

void CallerSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                         std::span<double> out) const {
  if (!thread.is_primary() || out.empty()) return;
  user_.pack(state == SweepState::current ? current_.x : recorded_.x, neighbour, out);
}

void CallerSweeper::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                           std::span<const double> in) {
  if (!thread.is_primary()) return;
  std::ranges::copy(in, of(state).halo.begin() + neighbours_[neighbour].receive_begin);
}

void CallerSweeper::sweep(const TeamThread& thread, SweepPart part,
                          comm_thread::ExactAccumulator* residual_square) {
  // The caller's update is one piece, which reads the halo.
  if (part == SweepPart::interior || !thread.is_primary()) return;
  if (residual_square) add_residual(thread, SweepState::current, *residual_square);
  user_.update(current_.x, current_.halo, next_);
}

void CallerSweeper::add_residual(const TeamThread& thread, SweepState state,
                                 comm_thread::ExactAccumulator& residual_square) {
  if (!thread.is_primary()) return;
  const State& values = of(state);
  residual_square.add(user_.residual_square(values.x, values.halo));
}

void CallerSweeper::record(const TeamThread& thread) {
  if (thread.is_primary()) std::ranges::copy(current_.x, recorded_.x.begin());
}

}  // namespace weft::library
