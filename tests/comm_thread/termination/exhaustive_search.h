#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tests {

/// Result of a search through all states of a system.
struct SearchResult {
  std::size_t state_count = 0;
  std::size_t end_count = 0;
  std::size_t stuck_count = 0;  // states from which no end can be reached any more
  std::size_t most_retries = 0;  // on the way to any state
  std::string violation;  // the first one found; the search ends there
  bool is_complete = false;  // all states were seen, fewer than the limit
};

/// Number of states from which none of `ends` can be reached.
/// `edges`: (from, to) between the states 0 … state_count-1.
inline std::size_t count_stuck(std::size_t state_count,
                               const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                               std::vector<std::uint32_t> ends) {
  std::vector<std::uint32_t> begin(state_count + 1);
  for (const auto& edge : edges) ++begin[edge.second + 1];
  for (std::size_t i = 0; i < state_count; ++i) begin[i + 1] += begin[i];
  std::vector<std::uint32_t> before(edges.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& edge : edges) before[next[edge.second]++] = edge.first;

  std::vector<bool> can_end(state_count);
  for (const std::uint32_t end : ends) can_end[end] = true;
  std::size_t reached = ends.size();
  while (!ends.empty()) {
    const std::uint32_t state = ends.back();
    ends.pop_back();
    for (std::uint32_t i = begin[state]; i < begin[state + 1]; ++i) {
      if (can_end[before[i]]) continue;
      can_end[before[i]] = true;
      ends.push_back(before[i]);
      ++reached;
    }
  }
  return state_count - reached;
}

/// Visits every state that can be reached from `initial`, in every order of steps.
///
/// State: `encode()` → std::string, equal for states that behave alike; `for_each_step(visit)`
/// calls visit(State&&) with the state after each possible step; `violation()` is empty where all
/// is well; `has_ended()`; `retry_count()`.
template <class State>
SearchResult search_exhaustively(State initial, std::size_t state_limit) {
  SearchResult result;
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<std::uint32_t> ends;
  std::vector<std::pair<std::uint32_t, State>> open;
  numbers.emplace(initial.encode(), 0);
  open.emplace_back(0, std::move(initial));
  while (!open.empty() && result.violation.empty() && numbers.size() < state_limit) {
    const auto [number, state] = std::move(open.back());
    open.pop_back();
    if (state.has_ended()) ends.push_back(number);
    state.for_each_step([&](State&& after) {
      result.most_retries = std::max(result.most_retries, after.retry_count());
      if (!after.violation().empty()) result.violation = after.violation();
      const auto fresh = static_cast<std::uint32_t>(numbers.size());
      const auto [known, is_new] = numbers.emplace(after.encode(), fresh);
      edges.emplace_back(number, known->second);
      if (is_new) open.emplace_back(fresh, std::move(after));
    });
  }
  result.state_count = numbers.size();
  result.end_count = ends.size();
  result.is_complete = open.empty() && result.violation.empty();
  if (result.is_complete) result.stuck_count = count_stuck(numbers.size(), edges, ends);
  return result;
}

}  // namespace weft::tests
