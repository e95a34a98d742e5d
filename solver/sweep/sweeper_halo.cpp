#include "solver/sweep/sweeper_halo.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "perfmodel/marked_region.h"

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;

constexpr int tag = 0;

}  // namespace

SweeperHalo::SweeperHalo(const comm_thread::Communicator& communicator,
                         comm_thread::CommThread& comm_thread, Sweeper& sweeper, HaloWait wait)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      sweeper_(sweeper),
      wait_(wait),
      exchange_(communicator_, sweeper.neighbours(), tag) {
  communicator_.barrier();  // both ends of every pair exist
}

void SweeperHalo::start(const TeamThread& thread, spmv::Mode mode, IterationTimer& timer) {
  if (!has_neighbours()) return;
  const perfmodel::MarkedRegion region("pack");
  const std::span<const HaloNeighbour> neighbours = sweeper_.neighbours();
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    sweeper_.pack(thread, SweepState::current, i,
                  sent_part(neighbours[i], exchange_.send_buffer()));
  thread.barrier();
  if (thread.is_primary()) {
    pending_ = mode == spmv::Mode::task ? exchange_.post(comm_thread_)
                                        : exchange_.start_here(comm_thread_);
    pending_->let_begin();
  }
  timer.lap(thread, &IterationTimes::pack);
}

void SweeperHalo::unpack(const TeamThread& thread, std::size_t neighbour) {
  sweeper_.unpack(
      thread, SweepState::current, neighbour,
      received_part<const double>(sweeper_.neighbours()[neighbour], exchange_.received()));
}

/// Whoever sends nothing is not waited for.
void SweeperHalo::unpack_in_turn(const TeamThread& thread, IterationTimer& timer) {
  const std::span<const HaloNeighbour> neighbours = sweeper_.neighbours();
  std::size_t receive = 0;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (neighbours[i].receive_count > 0) {
      const perfmodel::MarkedRegion region("wait");
      if (thread.is_primary()) pending_->wait_receive(receive);
      ++receive;
      thread.barrier();
      timer.lap(thread, &IterationTimes::wait);
    }
    const perfmodel::MarkedRegion region("pack");
    unpack(thread, i);
    timer.lap(thread, &IterationTimes::pack);
  }
}

void SweeperHalo::finish(const TeamThread& thread, IterationTimer& timer) {
  if (!has_neighbours()) return;
  if (wait_ == HaloWait::each) unpack_in_turn(thread, timer);
  {
    const perfmodel::MarkedRegion region("wait");
    if (thread.is_primary()) pending_->wait();
    thread.barrier();
    timer.lap(thread, &IterationTimes::wait);
  }
  if (wait_ == HaloWait::each) return;
  const perfmodel::MarkedRegion region("pack");
  for (std::size_t i = 0; i < sweeper_.neighbours().size(); ++i) unpack(thread, i);
  thread.barrier();
  timer.lap(thread, &IterationTimes::pack);
}

}  // namespace weft::solver
