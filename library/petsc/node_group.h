#pragma once

#include <petscsys.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>
#include <weft/weft.hpp>

namespace weft::petsc {

/// Ranks of one node that hand their rows to the first of them, which has a thread for each. The
/// others sleep while it works.
///
///     node 0: ranks 0 1 2 3 | node 1: ranks 4 5 6 7        two groups, led by ranks 0 and 4
class NodeGroup {
 public:
  /// Deals the ranks of each node to so many groups. Collective over `communicator`. Throws Error
  /// where ranks of a group do not follow each other.
  NodeGroup(MPI_Comm communicator, int groups_per_node);
  ~NodeGroup();
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;

  bool is_leader() const { return rank_ == 0; }
  /// Of the leaders, with as many threads as the group has ranks. At a leader.
  const Job& job() const { return *job_; }

  /// Throws Error on every rank of all groups if one group has more than collective_gather takes.
  /// Collective over all groups.
  void collective_expect_fit(std::int64_t own) const;
  /// What all ranks of the group have, in their order, at the leader; empty elsewhere. Fewer than
  /// 2^31 in all. Collective.
  std::vector<double> collective_gather(std::span<const double> own) const;
  std::vector<std::int64_t> collective_gather(std::span<const std::int64_t> own) const;
  /// Gives each rank its part of what the leader has. Collective.
  void collective_scatter(std::span<const double> all, std::span<double> own) const;

  /// Calls `work` at the leader; where that throws, all ranks of the group throw an Error.
  /// Collective.
  template <class Work>
  void collective_lead(const Work& work) const;

 private:
  /// How the work of the leader ended.
  struct Outcome {
    ErrorCode code{};
    bool is_error = false;
    std::array<char, 1000> text{};

    void set(ErrorCode of, const char* what);
  };

  void make_job();
  void share(Outcome& outcome) const;
  template <class Value>
  std::vector<Value> gather(std::span<const Value> own, MPI_Datatype type) const;

  MPI_Comm members_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::optional<Job> job_;
};

template <class Work>
void NodeGroup::collective_lead(const Work& work) const {
  Outcome outcome;
  if (is_leader()) {
    try {
      work();
    } catch (const Error& error) {
      outcome.set(error.code(), error.what());
    } catch (const std::bad_alloc&) {
      outcome.set(ErrorCode::out_of_memory, "out of memory");
    }
  }
  share(outcome);
  if (outcome.is_error) throw Error(outcome.code, outcome.text.data());
}

}  // namespace weft::petsc
