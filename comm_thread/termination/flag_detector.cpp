#include "comm_thread/termination/flag_detector.h"

#include <cstddef>

namespace weft::comm_thread {
namespace {

constexpr int flag_tag = 0;
constexpr int acknowledgement_tag = 1;
constexpr int decision_tag = 2;

}  // namespace

FlagDetector::FlagDetector(const MessageSpace& space, CommThread& comm_thread)
    : space_(space.collective_duplicate_space()),
      comm_thread_(comm_thread),
      tree_(BinaryTree(space_->rank(), space_->size())) {
  build_edges();
}

void FlagDetector::build_edges() {
  constexpr std::size_t bytes = sizeof(FlagMessage);
  const BinaryTree& tree = tree_.tree();
  if (!tree.is_root()) {
    Schedule::Builder up(*space_, "convergence flag");
    up.receive(nullptr, 0, tree.parent, acknowledgement_tag);
    up.send(&to_parent_.message, bytes, tree.parent, flag_tag);
    to_parent_.schedule = up.build();
    Schedule::Builder down(*space_, "decision");
    down.receive(&from_parent_.message, bytes, tree.parent, decision_tag);
    from_parent_.schedule = down.build();
  }
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree.child_count); ++child) {
    const int rank = tree.children[child];
    Schedule::Builder up(*space_, "convergence flag");
    up.receive(&from_children_[child].message, bytes, rank, flag_tag).end_round();
    up.send(nullptr, 0, rank, acknowledgement_tag);
    from_children_[child].schedule = up.build();
    Schedule::Builder down(*space_, "decision");
    down.send(&to_children_[child].message, bytes, rank, decision_tag);
    to_children_[child].schedule = down.build();
  }
}

bool FlagDetector::has_completed(Edge& edge) {
  if (!edge.pending || !edge.pending->test()) return false;
  edge.pending->wait();
  edge.pending.reset();
  return true;
}

bool FlagDetector::progress(const SweepSignal& signal) {
  tree_.set_own(signal);
  bool moved = hear_children();
  moved = hear_parent() || moved;
  moved = tell_parent() || moved;
  return tell_children() || moved;
}

bool FlagDetector::hear_children() {
  bool moved = false;
  for (int child = 0; child < tree_.tree().child_count; ++child) {
    Edge& edge = from_children_[static_cast<std::size_t>(child)];
    if (has_completed(edge)) {
      tree_.receive_from_child(child, edge.message);
      moved = true;
    }
    if (!edge.pending && !edge.message.is_last) post(edge);
  }
  return moved;
}

bool FlagDetector::hear_parent() {
  if (tree_.tree().is_root()) return false;
  const bool has_decision = has_completed(from_parent_);
  if (has_decision) tree_.receive_from_parent(from_parent_.message);
  // One decision an epoch: the next is expected when this rank is in the next epoch.
  if (!from_parent_.pending && order().verdict == Verdict::none) post(from_parent_);
  return has_decision;
}

bool FlagDetector::tell_parent() {
  has_completed(to_parent_);
  const std::optional<FlagMessage> unsent = tree_.unsent_to_parent();
  if (to_parent_.pending || !unsent) return false;
  to_parent_.message = *unsent;
  tree_.sent_to_parent(*unsent);
  post(to_parent_);
  return true;
}

bool FlagDetector::tell_children() {
  const std::optional<FlagMessage> unsent = tree_.unsent_to_children();
  bool is_busy = false;
  for (Edge& edge : to_children_) {
    has_completed(edge);
    is_busy = is_busy || edge.pending;
  }
  if (is_busy || !unsent) return false;
  for (Edge& edge : to_children_) {
    if (!edge.schedule) continue;
    edge.message = *unsent;
    post(edge);
  }
  tree_.sent_to_children(*unsent);
  return true;
}

bool FlagDetector::is_drained() const {
  bool is_busy = to_parent_.pending || from_parent_.pending;
  for (const Edge& edge : from_children_) is_busy = is_busy || edge.pending;
  for (const Edge& edge : to_children_) is_busy = is_busy || edge.pending;
  return !is_busy && tree_.is_drained();
}

}  // namespace weft::comm_thread
