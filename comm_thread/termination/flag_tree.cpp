#include "comm_thread/termination/flag_tree.h"

#include <algorithm>

namespace weft::comm_thread {

void FlagTree::set_own(const SweepSignal& signal) {
  own_.epoch = signal.epoch;
  own_.flag = signal.gives_up       ? Verdict::gave_up
              : signal.is_converged ? Verdict::converged
                                    : Verdict::none;
  own_.is_last = signal.has_ended;
  decide_at_root();
}

void FlagTree::receive_from_child(int child, const FlagMessage& message) {
  children_[static_cast<std::size_t>(child)] = message;
  decide_at_root();
}

Verdict FlagTree::flag_of_subtree() const {
  Verdict flag = own_.flag;
  for (int child = 0; child < tree_.child_count; ++child) {
    const FlagMessage& message = children_[static_cast<std::size_t>(child)];
    const Verdict of_child = message.epoch == own_.epoch ? message.flag : Verdict::none;
    if (flag == Verdict::gave_up || of_child == Verdict::gave_up) {
      flag = Verdict::gave_up;
    } else if (of_child == Verdict::none) {
      flag = Verdict::none;
    }
  }
  return flag;
}

void FlagTree::decide_at_root() {
  if (!tree_.is_root() || decision_.epoch == own_.epoch) return;
  const Verdict flag = flag_of_subtree();
  if (flag != Verdict::none) decide({own_.epoch, flag, false});
}

std::optional<FlagMessage> FlagTree::unsent_to_parent() const {
  if (tree_.is_root() || sent_up_.is_last) return {};
  if (own_.is_last) return FlagMessage{own_.epoch, Verdict::none, true};
  const FlagMessage known = sent_up_.epoch == own_.epoch ? sent_up_ : FlagMessage{own_.epoch};
  const FlagMessage now{own_.epoch, flag_of_subtree(), false};
  const bool is_decided = decision_.epoch == own_.epoch;
  if (is_decided || now == known) return {};
  return now;
}

std::optional<FlagMessage> FlagTree::unsent_to_children() const {
  if (tree_.child_count == 0 || sent_down_.epoch == decision_.epoch) return {};
  return decision_;
}

SweepOrder FlagTree::order() const {
  const bool is_decided = decision_.epoch == own_.epoch;
  return {own_.epoch, is_decided ? decision_.flag : Verdict::none, 0};
}

bool FlagTree::is_drained() const {
  const auto end = children_.begin() + tree_.child_count;
  return own_.is_last && (tree_.is_root() || sent_up_.is_last) && !unsent_to_children() &&
         std::all_of(children_.begin(), end, [](const FlagMessage& last) { return last.is_last; });
}

}  // namespace weft::comm_thread
