#include "comm_thread/simulation/network_group.h"

namespace weft::comm_thread {
namespace {

constexpr std::uint64_t not_quiet = std::numeric_limits<std::uint64_t>::max();

}  // namespace

NetworkGroup::NetworkGroup(int rank_count, NetworkModel& model, std::span<const RankRange> ranges,
                           double lookahead)
    : lookahead_(lookahead) {
  for (const RankRange& range : ranges)
    members_.push_back(std::make_unique<Member>(rank_count, model, range));
}

void NetworkGroup::join() {
  if (size() == 1) return;
  std::vector<SimulatedNetwork*> networks;
  std::size_t most_bytes = 0;
  for (const std::unique_ptr<Member>& member : members_) {
    networks.push_back(&member->network);
    most_bytes = std::max(most_bytes, member->network.most_bytes());
  }
  for (std::size_t i = 0; i < size(); ++i) networks[i]->join(networks, i, most_bytes);
}

/// Source: Mattern 1987, "Algorithms for distributed termination detection": four counters.
bool NetworkGroup::is_over(std::size_t i) {
  Member& member = *members_[i];
  if (size() == 1) return true;
  if (member.has_letters) return false;
  member.sent.store(member.network.sent_count_ + member.requests, std::memory_order_relaxed);
  member.taken.store(member.network.taken_count_ + member.services, std::memory_order_relaxed);
  member.is_idle.store(true);
  const std::uint64_t first = quiet_count();
  return first != not_quiet && quiet_count() == first;
}

std::uint64_t NetworkGroup::quiet_count() const {
  std::uint64_t taken = 0;
  std::uint64_t sent = 0;
  for (const std::unique_ptr<Member>& member : members_) {
    if (!member->is_idle.load()) return not_quiet;
    taken += member->taken.load();
  }
  for (const std::unique_ptr<Member>& member : members_) {
    if (!member->is_idle.load()) return not_quiet;
    sent += member->sent.load();
  }
  return taken == sent ? taken : not_quiet;
}

void NetworkGroup::deliver_all() {
  if (size() == 1) return;
  for (const std::unique_ptr<Member>& member : members_) {
    member->network.take_receipts();
    while (member->network.first_letter()) member->network.deliver_first();
  }
}

}  // namespace weft::comm_thread
