#include "solver/simulation/tree_reduction.h"

#include <algorithm>
#include <utility>

#include "comm_thread/termination/continuous_reduction.h"

namespace weft::solver {
namespace {

using comm_thread::ReductionProtocol;
using comm_thread::SimulatedNetwork;

constexpr double longest_rest = comm_thread::ContinuousReduction::longest_rest_seconds;

}  // namespace

TreeReduction::TreeReduction(SimulatedNetwork& network, int rank,
                             const ReductionProtocol::Options& options)
    : network_(&network), tree_(rank, network.rank_count()), rank_(rank), protocol_(options) {
  for (std::size_t child = 0; child < from_children_.size(); ++child)
    from_children_[child].route = {.from = tree_.children[child], .to = rank};
  from_parent_.route = {.from = tree_.parent, .to = rank};
}

std::vector<TreeReduction> TreeReduction::make(std::span<SimulatedNetwork* const> networks,
                                               const ReductionProtocol::Options& options) {
  std::vector<TreeReduction> all;
  all.reserve(static_cast<std::size_t>(networks.front()->rank_count()));
  for (SimulatedNetwork* const network : networks)
    for (int rank = network->own_ranks().begin; rank < network->own_ranks().end; ++rank)
      all.push_back(TreeReduction(*network, rank, options));
  for (TreeReduction& each : all) each.first_ = all.data();
  return all;
}

TreeReduction::Edge& TreeReduction::to_parent() const {
  const comm_thread::BinaryTree there(tree_.parent, network_->rank_count());
  return other(tree_.parent).from_children_[static_cast<std::size_t>(rank_ - there.children[0])];
}

TreeReduction::Values TreeReduction::contribution() const {
  Values values{};
  protocol_.fill_contribution(signal_, values);
  return values;
}

bool TreeReduction::progress(const comm_thread::SweepSignal& signal) {
  if (has_result()) take_result();  // it came before this signal
  signal_ = signal;
  if (phase_ == Phase::stopped) {
    if (signal.epoch <= protocol_.order().epoch) return false;
    protocol_.resume(signal);
    phase_ = Phase::resting;
  }
  note_change();
  const bool rests = phase_ == Phase::resting || (phase_ == Phase::gathering && now() < begin_);
  if (rests && (now() >= begin_ || has_changed_)) {
    phase_ = Phase::posted;
  } else if (is_leaf() && phase_ == Phase::sent && from_parent_.arrival < Edge::never &&
             !wakes_at_arrival_ && has_changed_) {
    network_->announce(rank_, from_parent_.arrival);
  }
  return phase_ == Phase::posted;
}

double TreeReduction::event_seconds(double seconds) {
  if (phase_ != Phase::sent || !is_leaf()) return seconds;
  (has_changed_ ? wakes_at_arrival_ : wakes_after_rest_) = true;
  return wakes_at_arrival_ ? seconds : seconds + longest_rest;
}

bool TreeReduction::happen() {
  bool is_due = true;
  if (has_result())
    take_result();
  else if (phase_ == Phase::gathering && have_children_sent())
    combine();
  else
    is_due = phase_ == Phase::resting && now() >= begin_;
  if (phase_ == Phase::posted || (phase_ == Phase::resting && now() >= begin_)) start();
  return is_due;
}

void TreeReduction::start() {
  if (is_leaf())
    combine();
  else
    gather(now());
}

void TreeReduction::gather(double begin) {
  phase_ = Phase::gathering;
  begin_ = begin;
  arrivals_ = {.missing = 0, .last = begin};
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child) {
    Edge& edge = from_children_[child];
    if (edge.arrival < Edge::never) {
      arrivals_.last = std::max(arrivals_.last, edge.arrival);
    } else {
      edge.waiting = &arrivals_;
      ++arrivals_.missing;
    }
  }
  if (have_children_sent())
    combine();
  else if (arrivals_.missing == 0)
    network_->announce(rank_, arrivals_.last);
}

/// In the order of AllReduce: own, first child, second child.
void TreeReduction::combine() {
  taken_ = contribution();
  has_changed_ = false;
  Values values = taken_;
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child) {
    Edge& edge = from_children_[child];
    edge.arrival = Edge::never;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += edge.values[i];
  }
  if (tree_.is_root()) return conclude(values, now());
  phase_ = Phase::sent;
  wakes_after_rest_ = wakes_at_arrival_ = false;
  arrivals_ = {.missing = 1, .last = now()};
  from_parent_.waiting = &arrivals_;
  network_->send(to_parent(), values);
}

void TreeReduction::take_result() {
  conclude(from_parent_.values, std::exchange(from_parent_.arrival, Edge::never));
}

void TreeReduction::conclude(const Values& values, double seconds) {
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child)
    network_->send(other(tree_.children[child]).from_parent_, values);
  protocol_.take_result(values);
  begin_ = seconds + longest_rest;
  if (protocol_.order().verdict != comm_thread::Verdict::none) {
    phase_ = Phase::stopped;
  } else if (has_changed_) {
    phase_ = Phase::posted;
  } else if (!is_leaf()) {
    gather(begin_);
  } else {
    phase_ = Phase::resting;
    if (!wakes_after_rest_) network_->announce(rank_, begin_);
  }
}

void TreeReduction::fetch(comm_thread::FetchQueue& fetches, std::span<const TreeReduction> all,
                          int rank) {
  constexpr std::size_t line = comm_thread::FetchQueue::line_bytes;
  const auto fetch = [&](int whose, std::size_t begin, std::size_t end) {
    fetches.add(
        std::as_bytes(all.subspan(static_cast<std::size_t>(whose), 1)).subspan(begin, end - begin));
  };
  const comm_thread::BinaryTree tree(rank, static_cast<int>(all.size()));
  fetch(rank, 0, sizeof(TreeReduction));
  for (int child = 0; child < tree.child_count; ++child)
    fetch(tree.children[static_cast<std::size_t>(child)], 0, 2 * line);
  if (tree.is_root()) return;
  fetch(tree.parent, 0, line);
  fetch(tree.parent, 2 * line, 4 * line);  // from its children
}

}  // namespace weft::solver
