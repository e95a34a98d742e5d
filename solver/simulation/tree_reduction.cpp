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
  for (TreeReduction& each : all) {
    each.first_ = all.data();
    if (each.has_far_neighbour()) each.network_->expect_letters(each.rank_);
  }
  return all;
}

TreeReduction::Edge& TreeReduction::to_parent() const {
  const bool is_first = rank_ == tree_.parent + 1;
  return other(tree_.parent).from_children_[is_first ? 0 : 1];
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

bool TreeReduction::has_far_neighbour() const {
  const auto is_far = [this](int rank) { return !is_near(rank); };
  return (!tree_.is_root() && is_far(tree_.parent)) ||
         std::any_of(tree_.children.begin(), tree_.children.begin() + tree_.child_count, is_far);
}

double TreeReduction::time_to(int rank, double hop) const {
  return network_->model().is_within_node({rank_, rank, 0}) ? 0 : hop;
}

double TreeReduction::last_arrival() const {
  double last = 0;
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child)
    last = std::max(last, from_children_[child].arrival);
  return last;
}

int TreeReduction::missing_child() const {
  int missing = -1;
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child)
    if (from_children_[child].arrival == Edge::never && (missing < 0 || !is_near(missing)))
      missing = tree_.children[child];
  return missing;
}

double TreeReduction::earliest_own_send(double now) const {
  const double begin = std::max(now, std::min(begin_, next_step_));  // a step ends the rest
  switch (phase_) {
    case Phase::resting:
      return begin;
    case Phase::stopped:
      return std::max(now, next_step_);
    case Phase::gathering:
      return std::max(begin, last_arrival());
    case Phase::posted:
      return now;
    case Phase::sent:
      break;
  }
  const double result = from_parent_.arrival;
  if (!is_leaf() || has_changed_) return std::max(now, result);
  return std::max(now, std::min(next_step_, result + longest_rest));
}

double TreeReduction::earliest_send(double now, double earliest_arrival, double hop) const {
  const TreeReduction* rank = this;
  double since = 0;
  const auto go_to = [&](int next) {
    since += rank->time_to(next, hop);
    rank = &other(next);
  };
  while (rank->awaits_result()) {
    if (!is_near(rank->tree_.parent)) return earliest_arrival + since;
    if (rank->has_letter_with_parent()) return now;
    go_to(rank->tree_.parent);
  }
  while (rank->phase_ == Phase::gathering && rank->arrivals_.missing > 0) {
    const int child = rank->missing_child();
    if (!is_near(child)) return earliest_arrival + since;
    if (other(child).awaits_result()) return now;  // its message is in a letter
    go_to(child);
  }
  return rank->earliest_own_send(now) + since;
}

bool TreeReduction::has_letter_with_parent() const {
  const Phase parents = other(tree_.parent).phase_;
  if (parents == Phase::gathering) return to_parent().arrival == Edge::never;
  return parents != Phase::sent;
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

void TreeReduction::fetch_neighbours(comm_thread::FetchQueue& fetches) const {
  constexpr std::size_t line = comm_thread::FetchQueue::line_bytes;
  const auto fetch = [&](int rank, std::size_t begin, std::size_t end) {
    fetches.add(std::as_bytes(std::span(&other(rank), 1)).subspan(begin, end - begin));
  };
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child)
    fetch(tree_.children[child], 0, 2 * line);
  if (tree_.is_root()) return;
  fetch(tree_.parent, 0, line);
  fetch(tree_.parent, 2 * line, 4 * line);  // from its children
}

}  // namespace weft::solver
