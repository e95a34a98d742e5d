#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/placement/placement.h"

namespace weft::comm_thread {

using Pus = std::vector<unsigned>;

/// `first`, …, `last`.
inline Pus range(unsigned first, unsigned last) {
  Pus pus(last - first + 1);
  std::iota(pus.begin(), pus.end(), first);
  return pus;
}

/// Ranks that no launcher bound and no cgroup restricts.
inline PlacementRequest free_ranks(std::size_t ranks, int threads_wanted) {
  PlacementRequest request;
  request.node.allowed_per_rank.resize(ranks);
  request.node.bound_per_rank.resize(ranks);
  request.node.reach_per_rank.resize(ranks);
  request.node.quotas_per_rank.resize(ranks);
  request.threads_wanted = threads_wanted;
  return request;
}

/// Ranks that a mask keeps to `bound`, on a machine that permits all.
inline PlacementRequest masked_ranks(std::vector<Pus> bound, int threads_wanted) {
  PlacementRequest request = free_ranks(bound.size(), threads_wanted);
  request.node.bound_per_rank = std::move(bound);
  return request;
}

/// Ranks that were bound to `bound` by a launcher that may use the whole machine.
inline PlacementRequest bound_ranks(std::vector<Pus> bound, int threads_wanted) {
  PlacementRequest request = masked_ranks(std::move(bound), threads_wanted);
  for (Pus& reach : request.node.reach_per_rank) reach = range(0, 1023);
  return request;
}

/// Ranks that a cgroup confines to `allowed`.
inline PlacementRequest confined_ranks(std::vector<Pus> allowed, int threads_wanted) {
  PlacementRequest request = free_ranks(allowed.size(), threads_wanted);
  request.node.bound_per_rank = allowed;
  request.node.allowed_per_rank = std::move(allowed);
  return request;
}

inline bool has(const Placement& plan, FindingSeverity severity, const std::string& part = "") {
  return std::ranges::any_of(plan.findings, [&](const PlacementFinding& finding) {
    return finding.severity == severity && finding.text.find(part) != std::string::npos;
  });
}

inline bool has_trouble(const Placement& plan) {
  return std::ranges::any_of(plan.findings, [](const PlacementFinding& finding) {
    return finding.severity != FindingSeverity::note;
  });
}

inline std::set<unsigned> domains_of(const Topology& machine, const Placement& plan) {
  std::set<unsigned> domains;
  for (const unsigned pu : plan.compute_pus) domains.insert(machine.find_pu(pu)->numa_domain);
  return domains;
}

/// No PU, the communication threads' included, appears twice.
inline bool all_pus_differ(const std::vector<Placement>& plans) {
  std::set<unsigned> seen;
  std::size_t count = 0;
  for (const Placement& plan : plans) {
    for (const unsigned pu : plan.compute_pus) seen.insert(pu);
    count += plan.compute_pus.size();
    if (plan.comm_core == CommCore::shared_core) continue;
    seen.insert(plan.communication_pu);
    ++count;
  }
  return seen.size() == count;
}

inline const std::string two_cores = "core:2 pu:1";
inline const std::string two_packages = "pack:2 numa:1 core:8 pu:2";  // core c has the PUs 2c, 2c+1
inline const std::string big_node = "pack:2 numa:4 core:16 pu:1";  // 8 domains, 128 cores

}  // namespace weft::comm_thread
