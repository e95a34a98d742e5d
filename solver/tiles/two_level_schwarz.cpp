#include "solver/tiles/two_level_schwarz.h"

#include <algorithm>

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;

/// One number more each way.
std::vector<HaloNeighbour> with_generation(std::span<const HaloNeighbour> neighbours) {
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

template <class Value>
std::span<Value> without_generation(std::span<Value> message) {
  return message.first(message.size() - 1);
}

}  // namespace

TwoLevelSchwarz::TwoLevelSchwarz(const comm_thread::Communicator& communicator,
                                 comm_thread::CommThread& comm_thread, TileSweeper& tiles,
                                 bool waits)
    : tiles_(tiles),
      comm_thread_(comm_thread),
      communicator_(communicator.collective_duplicate()),
      settling_(communicator.collective_duplicate()),
      waits_(waits),
      space_(tiles.problem().tiles_per_side, tiles.problem().points_per_side),
      neighbours_(with_generation(tiles.neighbours())),
      held_(neighbours_.size()),
      shares_(waits ? space_.share_count() : 0),
      source_(static_cast<std::size_t>(tiles.team().thread_count())),
      nodes_(source_.size()),
      correction_(space_.node_count()),
      sum_(communicator_, comm_thread::ReduceOperation::sum,
           (waits ? space_.share_count() : space_.node_count()) + 1, 0) {
  std::size_t halo_count = 0;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    held_[i].message.resize(static_cast<std::size_t>(neighbours_[i].receive_count));
    halo_count += held_[i].message.size() - 1;
  }
  recorded_halo_.resize(halo_count);
  tiles.team().run([this](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    source_[index].resize(space_.node_count());
    nodes_[index].resize(space_.node_count());
    tiles_.restrict_source(thread, space_, source_[index]);
  });
}

void TwoLevelSchwarz::pack(const TeamThread& thread, std::size_t neighbour,
                           std::span<double> out) const {
  tiles_.pack(thread, neighbour, without_generation(out));
  if (thread.is_primary()) out.back() = static_cast<double>(generation_);
}

void TwoLevelSchwarz::unpack(const TeamThread& thread, std::size_t neighbour,
                             std::span<const double> in) {
  const auto generation = static_cast<std::int64_t>(in.back());
  if (generation > generation_) {
    if (!thread.is_primary()) return;
    std::ranges::copy(in, held_[neighbour].message.begin());
    held_[neighbour].is_held = true;
    return;
  }
  if (generation < generation_ - 1) return;  // a newer one is on its way
  tiles_.unpack(thread, neighbour, without_generation(in));
  if (generation < generation_) tiles_.add_to_ghosts(thread, neighbour, space_, correction_);
}

void TwoLevelSchwarz::sweep(const TeamThread& thread, SweepPart part,
                            comm_thread::ExactAccumulator* residual_square) {
  if (part == SweepPart::interior) return;
  correct(thread);
  tiles_.sweep(thread, SweepPart::all, residual_square);
}

void TwoLevelSchwarz::advance(const TeamThread& thread, int count) {
  for (int i = 0; i < count; ++i) {
    sweep(thread, SweepPart::all, nullptr);
    thread.barrier();
    if (thread.is_primary()) finish_sweep();
    thread.barrier();
  }
}

void TwoLevelSchwarz::correct(const TeamThread& thread) {
  if (thread.is_primary()) step_ = next_step();
  thread.barrier();
  if (step_ == Step::restrict_residual) {
    if (waits_)
      tiles_.restrict_residual(thread, space_, shares_);
    else
      restrict_values(thread);
    thread.barrier();
    if (thread.is_primary()) {
      begin_sum(true);
      step_ = waits_ ? finish_sum() : Step::none;
    }
    thread.barrier();
  }
  if (step_ == Step::add_correction) add_correction(thread);
}

TwoLevelSchwarz::Step TwoLevelSchwarz::next_step() {
  if (is_summing_) {
    ++sweeps_in_flight_;
    return !pending_ || pending_->test() ? finish_sum() : Step::none;
  }
  if (sweeps_to_rest_ > 0) {
    --sweeps_to_rest_;
    return Step::none;
  }
  return Step::restrict_residual;
}

void TwoLevelSchwarz::restrict_values(const TeamThread& thread) {
  const auto index = static_cast<std::size_t>(thread.index);
  std::ranges::copy(source_[index], nodes_[index].begin());
  tiles_.subtract_product(thread, space_, nodes_[index]);
}

/// `is_valid`: with the shares of this rank, and not only for the others to come to an end.
void TwoLevelSchwarz::begin_sum(bool is_valid) {
  const std::span<double> values = sum_.values();
  std::ranges::fill(values, 0.0);
  std::ranges::copy(shares_, values.begin());
  for (std::size_t i = 0; !waits_ && i < nodes_.size(); ++i)
    for (std::size_t node = 0; node < nodes_[i].size(); ++node) values[node] += nodes_[i][node];
  values.back() = is_valid ? 1 : 0;
  if (communicator_.size() > 1) pending_ = sum_.post(comm_thread_);
  is_summing_ = true;
  sweeps_in_flight_ = 0;
  ++begun_;
}

TwoLevelSchwarz::Step TwoLevelSchwarz::finish_sum() {
  if (pending_) pending_->wait();
  pending_.reset();
  is_summing_ = false;
  const std::span<const double> values = sum_.values();
  if (values.back() < communicator_.size()) return Step::none;
  if (waits_)
    space_.sum_shares(values.first(shares_.size()), nodes_[0]);
  else
    std::copy_n(values.begin(), nodes_[0].size(), nodes_[0].begin());
  space_.solve(nodes_[0], correction_);
  return Step::add_correction;
}

void TwoLevelSchwarz::add_correction(const TeamThread& thread) {
  tiles_.add(thread, space_, correction_);
  thread.barrier();
  if (thread.is_primary()) {
    ++generation_;
    sweeps_to_rest_ = waits_ ? 0 : std::max(1, sweeps_in_flight_);
  }
  thread.barrier();
  bool has_held = false;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (!held_[i].is_held) continue;
    has_held = true;
    unpack(thread, i, held_[i].message);
  }
  thread.barrier();
  if (has_held && thread.is_primary())
    for (Held& held : held_) held.is_held = false;
}

/// A sum that some ranks have begun and others have not is given up by all: those take part without
/// shares. No rank is more than one sum ahead, because a sum needs all.
void TwoLevelSchwarz::collective_settle(const TeamThread& thread) {
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

void TwoLevelSchwarz::pack_record(const TeamThread& thread, std::size_t neighbour,
                                  std::span<double> out) const {
  tiles_.pack_record(thread, neighbour, without_generation(out));
  if (thread.is_primary()) out.back() = 0;
}

void TwoLevelSchwarz::add_residual_of_record(const TeamThread& thread, std::span<const double> halo,
                                             comm_thread::ExactAccumulator& residual_square) {
  if (thread.is_primary()) {
    const std::span<const HaloNeighbour> shorter = tiles_.neighbours();
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      std::copy_n(halo.begin() + neighbours_[i].receive_begin, shorter[i].receive_count,
                  recorded_halo_.begin() + shorter[i].receive_begin);
  }
  thread.barrier();
  tiles_.add_residual_of_record(thread, recorded_halo_, residual_square);
}

}  // namespace weft::solver
