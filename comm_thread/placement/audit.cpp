#include "comm_thread/placement/audit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {
namespace {

std::string numbered(const char* thing, std::int64_t number) {
  std::string text = thing;
  text += ' ';
  text += std::to_string(number);
  return text;
}

std::string name_of(const ThreadAudit& thread) {
  return numbered("rank", thread.rank_on_node) +
         (thread.thread < 0 ? " communication thread" : numbered(" compute thread", thread.thread));
}

/// The PU that a thread is known to be on: the only one it may run on, or else the last one seen.
std::optional<unsigned> actual_pu(const ThreadAudit& thread) {
  return thread.binding.size() == 1 ? std::optional(thread.binding.front()) : thread.last_cpu;
}

bool is_known(const ThreadAudit& thread) { return actual_pu(thread).has_value(); }

std::optional<std::string> find_misplacement(const ThreadAudit& thread) {
  const std::string planned = numbered(", planned for PU", thread.planned_pu);
  if (thread.binding.empty()) return name_of(thread) + " is where nobody knows" + planned;
  if (thread.binding.size() > 1)
    return name_of(thread) + " is not pinned: may run on PUs " + format_list(thread.binding) +
           planned;
  if (thread.binding.front() != thread.planned_pu)
    return name_of(thread) + numbered(" is pinned to PU", thread.binding.front()) + planned;
  if (thread.last_cpu && *thread.last_cpu != thread.planned_pu)
    return name_of(thread) + numbered(" ran on PU", *thread.last_cpu) + planned;
  return std::nullopt;
}

using ThreadList = std::vector<const ThreadAudit*>;

std::string names_of(const ThreadList& threads) {
  std::string names;
  for (const ThreadAudit* thread : threads) {
    if (!names.empty()) names += thread == threads.back() ? " and " : ", ";
    names += name_of(*thread);
  }
  return names;
}

/// True if two threads share a PU contrary to the plan: compute threads never may, the
/// communication thread only where planned.
bool meet_wrongly(const ThreadList& threads) {
  const auto computes = [](const ThreadAudit* thread) { return thread->thread >= 0; };
  const auto planned = [](const ThreadAudit* thread) { return thread->planned_pu; };
  return std::ranges::count_if(threads, computes) > 1 ||
         std::ranges::adjacent_find(threads, std::ranges::not_equal_to(), planned) != threads.end();
}

void audit_pus(std::span<const ThreadAudit> threads, std::vector<PlacementFinding>& findings) {
  std::map<unsigned, ThreadList> threads_on_pu;
  for (const ThreadAudit& thread : threads)
    if (const std::optional<unsigned> pu = actual_pu(thread)) threads_on_pu[*pu].push_back(&thread);
  for (const auto& [pu, on_pu] : threads_on_pu)
    if (meet_wrongly(on_pu))
      findings.push_back(
          {FindingSeverity::warning, names_of(on_pu) + numbered(" are all on PU", pu)});
}

void audit_cores(const Topology& topology, std::span<const ThreadAudit> threads,
                 std::vector<PlacementFinding>& findings) {
  struct RankThreads {
    std::size_t count = 0;
    std::set<unsigned> cores;
  };
  std::map<int, RankThreads> compute_of_rank;
  for (const ThreadAudit& thread : threads) {
    const std::optional<unsigned> pu = actual_pu(thread);
    if (thread.thread < 0 || !pu) continue;
    RankThreads& of_rank = compute_of_rank[thread.rank_on_node];
    ++of_rank.count;
    if (const std::optional<PuLocation> location = topology.find_pu(*pu))
      of_rank.cores.insert(location->core);
  }
  for (const auto& [rank, compute] : compute_of_rank)
    if (compute.count > 1 && compute.cores.size() == 1)
      findings.push_back({FindingSeverity::warning, numbered("rank", rank) + ": all " +
                                                        counted(compute.count, "compute thread") +
                                                        " are on one core"});
}

}  // namespace

ThreadAudit audit_this_thread(const Topology& topology, int rank_on_node, int thread,
                              unsigned planned_pu) {
  return {rank_on_node, thread, planned_pu, topology.binding_of_calling_thread(),
          topology.last_pu_of_calling_thread()};
}

std::vector<PlacementFinding> audit(const Topology& topology,
                                    std::span<const ThreadAudit> threads) {
  if (!threads.empty() && std::ranges::none_of(threads, is_known))
    return {{FindingSeverity::note, "where the threads run cannot be read back here"}};
  std::vector<PlacementFinding> findings;
  for (const ThreadAudit& thread : threads)
    if (std::optional<std::string> text = find_misplacement(thread))
      findings.push_back({FindingSeverity::warning, std::move(*text)});
  audit_pus(threads, findings);
  audit_cores(topology, threads, findings);
  return findings;
}

}  // namespace weft::comm_thread
