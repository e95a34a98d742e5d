#include "solver/sweep/subdomain_halo.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "perfmodel/marked_region.h"

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;

constexpr int tag = 0;

std::size_t received_size(std::span<const HaloNeighbour> neighbours) {
  std::int64_t size = 0;
  for (const HaloNeighbour& neighbour : neighbours) size += neighbour.receive_count;
  return static_cast<std::size_t>(size);
}

std::span<double> part(std::span<double> all, std::int64_t begin, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

}  // namespace

SubdomainHalo::SubdomainHalo(const comm_thread::Communicator& communicator,
                             comm_thread::CommThread& comm_thread, Subdomain& subdomain,
                             HaloWait wait)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      subdomain_(subdomain),
      wait_(wait),
      received_(received_size(subdomain.neighbours())),
      exchange_(communicator_, subdomain.neighbours(), received_, tag) {
  communicator_.barrier();  // both ends of every pair exist
}

void SubdomainHalo::start(const TeamThread& thread, spmv::Mode mode, IterationTimer& timer) {
  if (!has_neighbours()) return;
  const perfmodel::MarkedRegion region("pack");
  const std::span<const HaloNeighbour> neighbours = subdomain_.neighbours();
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    subdomain_.pack(
        thread, i,
        part(exchange_.send_buffer(), neighbours[i].send_begin, neighbours[i].send_count));
  thread.barrier();
  if (thread.is_primary()) {
    pending_ = mode == spmv::Mode::task ? exchange_.post(comm_thread_)
                                        : exchange_.start_here(comm_thread_);
    pending_->let_begin();
  }
  timer.lap(thread, &IterationTimes::pack);
}

void SubdomainHalo::unpack(const TeamThread& thread, std::size_t neighbour) {
  const HaloNeighbour& from = subdomain_.neighbours()[neighbour];
  subdomain_.unpack(thread, neighbour, part(received_, from.receive_begin, from.receive_count));
}

/// Whoever sends nothing is not waited for.
void SubdomainHalo::unpack_in_turn(const TeamThread& thread, IterationTimer& timer) {
  const std::span<const HaloNeighbour> neighbours = subdomain_.neighbours();
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

void SubdomainHalo::finish(const TeamThread& thread, IterationTimer& timer) {
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
  for (std::size_t i = 0; i < subdomain_.neighbours().size(); ++i) unpack(thread, i);
  thread.barrier();
  timer.lap(thread, &IterationTimes::pack);
}

}  // namespace weft::solver
