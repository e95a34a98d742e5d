#include "comm_thread/termination/flag_tree.h"

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

SweepSignal signal(std::uint64_t epoch, bool is_converged) {
  SweepSignal signal;
  signal.epoch = epoch;
  signal.is_converged = is_converged;
  return signal;
}

/// The tree's next message to its parent, marked as sent.
FlagMessage tell(FlagTree& tree) {
  const auto message = tree.unsent_to_parent();
  if (!message) return {};
  tree.sent_to_parent(*message);
  return *message;
}

const FlagMessage raised{1, Verdict::converged, false};
const FlagMessage lowered{1, Verdict::none, false};

TEST_CASE("a leaf raises its flag, takes it back and raises it again") {
  FlagTree leaf(BinaryTree(2, 3));
  CHECK_FALSE(leaf.unsent_to_parent());
  leaf.set_own(signal(1, true));
  CHECK(tell(leaf) == raised);
  CHECK_FALSE(leaf.unsent_to_parent());
  leaf.set_own(signal(1, false));
  CHECK(tell(leaf) == lowered);
  leaf.set_own(signal(1, true));
  CHECK(tell(leaf) == raised);
}

TEST_CASE("what changes back before it was told is not told") {
  FlagTree leaf(BinaryTree(2, 3));
  leaf.set_own(signal(1, true));
  leaf.set_own(signal(1, false));
  CHECK_FALSE(leaf.unsent_to_parent());
}

TEST_CASE("an inner rank has converged while it and both its children have") {
  FlagTree inner(BinaryTree(1, 7));
  inner.receive_from_child(0, raised);
  inner.set_own(signal(1, true));
  CHECK_FALSE(inner.unsent_to_parent());
  inner.receive_from_child(1, raised);
  CHECK(tell(inner) == raised);
  inner.receive_from_child(0, lowered);
  CHECK(tell(inner) == lowered);
}

TEST_CASE("the root decides once an epoch, and the decision goes down") {
  FlagTree root(BinaryTree(0, 3));
  root.set_own(signal(1, true));
  root.receive_from_child(0, raised);
  CHECK(root.order().verdict == Verdict::none);
  root.receive_from_child(1, raised);
  CHECK(root.order().verdict == Verdict::converged);
  root.receive_from_child(1, lowered);
  CHECK(root.order().verdict == Verdict::converged);

  FlagTree leaf(BinaryTree(1, 3));
  CHECK(root.unsent_to_children().value() == raised);
  root.sent_to_children(raised);
  CHECK_FALSE(root.unsent_to_children());
  leaf.receive_from_parent(raised);
  CHECK(leaf.order() == SweepOrder{1, Verdict::converged, 0});
}

TEST_CASE("flags of an epoch before count no more, those of the next are kept for it") {
  FlagTree root(BinaryTree(0, 2));
  root.receive_from_child(0, raised);
  root.set_own(signal(2, true));
  CHECK(root.order().verdict == Verdict::none);
  root.receive_from_child(0, {3, Verdict::converged, false});
  CHECK(root.order().verdict == Verdict::none);
  root.set_own(signal(3, true));
  CHECK(root.order() == SweepOrder{3, Verdict::converged, 0});
}

TEST_CASE("a decision of the next epoch waits until this rank is there") {
  FlagTree leaf(BinaryTree(1, 2));
  leaf.set_own(signal(1, true));
  leaf.receive_from_parent({2, Verdict::gave_up, false});
  CHECK(leaf.order().verdict == Verdict::none);
  leaf.set_own(signal(2, false));
  CHECK(leaf.order() == SweepOrder{2, Verdict::gave_up, 0});
}

TEST_CASE("who gives up does so for the whole tree, whatever others say") {
  FlagTree root(BinaryTree(0, 3));
  root.receive_from_child(1, {1, Verdict::gave_up, false});
  CHECK(root.order().verdict == Verdict::gave_up);

  FlagTree inner(BinaryTree(1, 7));
  SweepSignal gives_up = signal(1, true);
  gives_up.gives_up = true;
  inner.set_own(gives_up);
  CHECK(tell(inner).flag == Verdict::gave_up);
}

TEST_CASE("at the end everybody says so to its parent, and waits for its children") {
  SweepSignal end = signal(1, true);
  end.has_ended = true;
  FlagTree leaf(BinaryTree(1, 2));
  leaf.set_own(end);
  CHECK_FALSE(leaf.is_drained());
  CHECK(tell(leaf).is_last);
  CHECK(leaf.is_drained());
  CHECK_FALSE(leaf.unsent_to_parent());

  FlagTree root(BinaryTree(0, 2));
  root.receive_from_child(0, raised);
  root.set_own(signal(1, true));
  root.sent_to_children(root.unsent_to_children().value());
  root.set_own(end);
  CHECK_FALSE(root.is_drained());
  root.receive_from_child(0, {1, Verdict::none, true});
  CHECK(root.is_drained());
}

}  // namespace
}  // namespace weft::comm_thread
