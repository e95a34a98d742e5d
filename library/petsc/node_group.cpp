#include "library/petsc/node_group.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "library/petsc/shared_job.h"

namespace weft::petsc {
namespace {

constexpr std::chrono::microseconds nap{20};

/// Waits without taking a core from the leader.
void sleep_until_done(MPI_Request& request) {
  for (int is_done = 0; !is_done;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (!is_done) std::this_thread::sleep_for(nap);
  }
}

MPI_Comm part_of(MPI_Comm communicator, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(communicator, color, key, &part);
  return part;
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// Where the part of each rank begins, and the end of the last.
std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  return begins;
}

}  // namespace

NodeGroup::NodeGroup(MPI_Comm communicator, int groups_per_node) {
  const int rank_of_all = rank_in(communicator);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank_of_all, MPI_INFO_NULL, &node);
  const int groups = std::min(groups_per_node, size_of(node));
  const int group = static_cast<int>(std::int64_t{rank_in(node)} * groups / size_of(node));
  members_ = part_of(node, group, rank_of_all);
  MPI_Comm_free(&node);
  rank_ = rank_in(members_);
  size_ = size_of(members_);
  int first = rank_of_all;
  MPI_Bcast(&first, 1, MPI_INT, 0, members_);
  int is_in_order = first + rank_ == rank_of_all;
  MPI_Allreduce(MPI_IN_PLACE, &is_in_order, 1, MPI_INT, MPI_MIN, communicator);
  if (!is_in_order)
    throw Error(ErrorCode::bad_input,
                "option ranks_per_node: found ranks of a node that do not follow each other; "
                "expected a launcher that fills one node after another");
  leaders_ = part_of(communicator, is_leader() ? 0 : MPI_UNDEFINED, rank_of_all);
  make_job();
}

NodeGroup::~NodeGroup() {
  job_.reset();
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
  if (members_ != MPI_COMM_NULL) MPI_Comm_free(&members_);
}

/// The threads of the leader may use the cores of all ranks of the group.
void NodeGroup::make_job() {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  cpu_set_t all = own;
  MPI_Reduce(is_leader() ? MPI_IN_PLACE : static_cast<void*>(&all), &all,
             static_cast<int>(sizeof all), MPI_BYTE, MPI_BOR, 0, members_);
  collective_lead([&] {
    sched_setaffinity(0, sizeof all, &all);
    job_.emplace(leaders_, options_of_database(size_));
    sched_setaffinity(0, sizeof own, &own);
  });
}

void NodeGroup::Outcome::set(ErrorCode of, const char* what) {
  is_error = true;
  code = of;
  std::strncpy(text.data(), what, text.size() - 1);
}

void NodeGroup::share(Outcome& outcome) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&outcome, static_cast<int>(sizeof outcome), MPI_BYTE, 0, members_, &request);
  if (is_leader())
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  else
    sleep_until_done(request);
}

void NodeGroup::collective_expect_fit(std::int64_t own) const {
  std::int64_t most = own;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_SUM, members_);
  if (is_leader()) MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, leaders_);
  MPI_Bcast(&most, 1, MPI_INT64_T, 0, members_);
  if (most > std::numeric_limits<int>::max())
    throw Error(ErrorCode::bad_input, "option ranks_per_node: found " + std::to_string(most) +
                                          " entries of a group; expected fewer than 2^31");
}

template <class Value>
std::vector<Value> NodeGroup::gather(std::span<const Value> own, MPI_Datatype type) const {
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(is_leader() ? static_cast<std::size_t>(size_) : 0);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, members_);
  const std::vector<int> begins = begins_of(counts);
  std::vector<Value> all(static_cast<std::size_t>(begins.back()));
  MPI_Gatherv(own.data(), count, type, all.data(), counts.data(), begins.data(), type, 0, members_);
  return all;
}

std::vector<double> NodeGroup::collective_gather(std::span<const double> own) const {
  return gather(own, MPI_DOUBLE);
}

std::vector<std::int64_t> NodeGroup::collective_gather(std::span<const std::int64_t> own) const {
  return gather(own, MPI_INT64_T);
}

void NodeGroup::collective_scatter(std::span<const double> all, std::span<double> own) const {
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(is_leader() ? static_cast<std::size_t>(size_) : 0);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, members_);
  const std::vector<int> begins = begins_of(counts);
  MPI_Scatterv(all.data(), counts.data(), begins.data(), MPI_DOUBLE, own.data(), count, MPI_DOUBLE,
               0, members_);
}

}  // namespace weft::petsc
