#include "solver/tiles/async_two_level.h"

#include <algorithm>
#include <bit>

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;

/// The first element of a message.
struct Header {
  std::int64_t generation = 0;  // corrections that the sender had added
};
static_assert(sizeof(Header) == sizeof(double));

Header header_of(std::span<const double> message) { return std::bit_cast<Header>(message.front()); }

template <class Value>
std::span<Value> values_of(std::span<Value> message) {
  return message.subspan(1);
}

std::vector<HaloNeighbour> with_headers(std::span<const HaloNeighbour> neighbours) {
  std::vector<HaloNeighbour> longer(neighbours.begin(), neighbours.end());
  std::int64_t before = 0;
  for (HaloNeighbour& neighbour : longer) {
    neighbour.send_begin += before;
    neighbour.receive_begin += before;
    ++neighbour.send_count;
    ++neighbour.receive_count;
    ++before;
  }
  return longer;
}

}  // namespace

AsyncTwoLevel::AsyncTwoLevel(const comm_thread::Communicator& communicator,
                             comm_thread::CommThread& comm_thread, TileSweeper& tiles)
    : tiles_(tiles),
      comm_thread_(comm_thread),
      communicator_(communicator.collective_duplicate()),
      settling_(communicator.collective_duplicate()),
      space_(tiles.problem().tiles_per_side, tiles.problem().points_per_side),
      neighbours_(with_headers(tiles.neighbours())),
      held_(neighbours_.size()),
      source_(static_cast<std::size_t>(tiles.team().thread_count())),
      nodes_(source_.size()),
      correction_(space_.node_count()),
      sum_(communicator_, comm_thread::ReduceOperation::sum, space_.node_count() + 1, 0) {
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    held_[i].message.resize(static_cast<std::size_t>(neighbours_[i].receive_count));
  tiles.team().run([this](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    source_[index].resize(space_.node_count());
    nodes_[index].resize(space_.node_count());
    tiles_.restrict_source(thread, space_, source_[index]);
  });
}

void AsyncTwoLevel::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                         std::span<double> out) const {
  tiles_.pack(thread, state, neighbour, values_of(out));
  if (thread.is_primary()) out.front() = std::bit_cast<double>(Header{generation_});
}

void AsyncTwoLevel::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                           std::span<const double> in) {
  if (state == SweepState::recorded) return tiles_.unpack(thread, state, neighbour, values_of(in));
  const std::int64_t generation = header_of(in).generation;
  if (generation > generation_) {
    if (!thread.is_primary()) return;
    std::ranges::copy(in, held_[neighbour].message.begin());
    held_[neighbour].is_held = true;
    return;
  }
  if (generation < generation_ - 1) return;  // a newer one is on its way
  tiles_.unpack(thread, state, neighbour, values_of(in));
  if (generation < generation_) tiles_.add_to_ghosts(thread, neighbour, space_, correction_);
}

void AsyncTwoLevel::sweep(const TeamThread& thread, SweepPart part,
                          comm_thread::ExactAccumulator* residual_square) {
  if (part == SweepPart::interior) return;
  correct(thread);
  tiles_.sweep(thread, SweepPart::all, residual_square);
}

void AsyncTwoLevel::correct(const TeamThread& thread) {
  if (thread.is_primary()) step_ = next_step();
  thread.barrier();
  if (step_ == Step::begin_sum) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::ranges::copy(source_[index], nodes_[index].begin());
    tiles_.subtract_product(thread, space_, nodes_[index]);
    thread.barrier();
    if (thread.is_primary()) begin_sum(true);
    thread.barrier();
  } else if (step_ == Step::add_correction) {
    add_correction(thread);
  }
}

AsyncTwoLevel::Step AsyncTwoLevel::next_step() {
  if (is_summing_) {
    ++sweeps_in_flight_;
    return !pending_ || pending_->test() ? finish_sum() : Step::none;
  }
  if (sweeps_to_rest_ > 0) {
    --sweeps_to_rest_;
    return Step::none;
  }
  return Step::begin_sum;
}

/// `is_valid`: with the shares of this rank, and not only for the others to come to an end.
void AsyncTwoLevel::begin_sum(bool is_valid) {
  const std::span<double> values = sum_.values();
  std::ranges::fill(values, 0.0);
  for (const std::vector<double>& nodes : nodes_)
    for (std::size_t node = 0; node < nodes.size(); ++node) values[node] += nodes[node];
  values.back() = is_valid ? 1 : 0;
  if (communicator_.size() > 1) pending_ = sum_.post(comm_thread_);
  is_summing_ = true;
  sweeps_in_flight_ = 0;
  ++begun_;
}

AsyncTwoLevel::Step AsyncTwoLevel::finish_sum() {
  if (pending_) pending_->wait();
  pending_.reset();
  is_summing_ = false;
  const std::span<const double> values = sum_.values();
  if (values.back() < communicator_.size()) return Step::none;
  std::copy_n(values.begin(), nodes_[0].size(), nodes_[0].begin());
  space_.solve(nodes_[0], correction_);
  return Step::add_correction;
}

void AsyncTwoLevel::add_correction(const TeamThread& thread) {
  tiles_.add(thread, space_, correction_);
  thread.barrier();
  if (thread.is_primary()) {
    ++generation_;
    sweeps_to_rest_ = std::max(1, sweeps_in_flight_);
  }
  thread.barrier();
  bool has_held = false;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (!held_[i].is_held) continue;
    has_held = true;
    unpack(thread, SweepState::current, i, held_[i].message);
  }
  thread.barrier();
  if (has_held && thread.is_primary())
    for (Held& held : held_) held.is_held = false;
}

/// A sum that some ranks have begun and others have not is given up by all: those take part without
/// shares. No rank is more than one sum ahead, because a sum needs all.
void AsyncTwoLevel::collective_settle(const TeamThread& thread) {
  if (thread.is_primary()) {
    const std::int64_t most = settling_.max(begun_);
    step_ = is_summing_ ? finish_sum() : Step::none;
    if (begun_ < most) {
      begin_sum(false);
      finish_sum();
    }
  }
  thread.barrier();
  if (step_ == Step::add_correction) add_correction(thread);
  if (thread.is_primary())
    for (Held& held : held_) held.is_held = false;
  thread.barrier();
}

}  // namespace weft::solver
