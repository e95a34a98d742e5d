#include "comm_thread/mpi/roll_call.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {
namespace {

constexpr double for_ever = std::numeric_limits<double>::infinity();

/// An answer that this rank leaves, under way: the others have not all answered yet.
struct Farewell {
  Farewell(Communicator of_ranks, std::int64_t rank) : ranks(std::move(of_ranks)), mine(rank) {
    // Where this fails there is nothing to wait for.
    MPI_Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, ranks.handle(), &request);
  }

  /// True when nothing is left to wait for.
  bool is_over() {
    int is_complete = 0;
    return MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_complete;
  }

  Communicator ranks;
  std::int64_t mine;
  std::int64_t least = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// What this process has under way. It is never destroyed: handlers of exit come late.
struct Registry {
  std::mutex mutex;
  std::vector<RollCall*> present;
  std::vector<std::unique_ptr<Farewell>> farewells;
};

Registry& registry() {
  static auto* const only = new Registry;
  return *only;
}

bool does_mpi_run() {
  int is_initialised = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalized);
  return is_initialised && !is_finalized;
}

/// MPI_Finalize calls this before it does anything else.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*state*/) {
  RollCall::leave_all(for_ever);
  return MPI_SUCCESS;
}

/// A launcher ends the job of a process that fails, but not of one that leaves with 0.
void on_exit_of_process(int status, void* owner) {
  const bool is_owner = getpid() == static_cast<pid_t>(reinterpret_cast<std::intptr_t>(owner));
  if (status == 0 && is_owner && does_mpi_run()) RollCall::leave_all(for_ever);
}

void watch_ends_of_process() {
  static const bool is_watched = [] {
    int key = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, nullptr),
              "make an attribute");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "watch for the end of MPI");
    on_exit(on_exit_of_process, reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid())));
    return true;
  }();
  static_cast<void>(is_watched);
}

}  // namespace

RollCall::RollCall(Communicator ranks) : ranks_(std::move(ranks)), first_lost_(ranks_.size()) {
  if (ranks_.size() == 1) return;
  watch_ends_of_process();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.present.push_back(this);
}

RollCall::~RollCall() {
  if (does_mpi_run())
    leave();
  else
    // Nothing can be freed any more.
    static_cast<void>(new Communicator(std::move(ranks_)));
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase(all.present, this);
}

void RollCall::collective_answer(const std::string& doing) {
  if (ranks_.size() == 1) return;
  if (has_left_) throw std::logic_error("found " + doing + " after this rank has left its job");
  if (first_lost_ == ranks_.size()) first_lost_ = ranks_.min(std::int64_t{ranks_.size()});
  if (first_lost_ < ranks_.size())
    throw std::logic_error("rank " + std::to_string(first_lost_) + " has left the job, and rank " +
                           std::to_string(ranks_.rank()) + " would wait for it in " + doing +
                           "; expected the same calls on all ranks");
}

void RollCall::leave() {
  if (std::exchange(has_left_, true) || first_lost_ < ranks_.size() || ranks_.size() == 1) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.farewells, [](const auto& each) { return each->is_over(); });
  const std::int64_t rank = ranks_.rank();
  all.farewells.push_back(std::make_unique<Farewell>(std::move(ranks_), rank));
}

void RollCall::leave_all(double limit_seconds) {
  Registry& all = registry();
  std::vector<RollCall*> present;
  {
    const std::lock_guard lock(all.mutex);
    present = all.present;
  }
  for (RollCall* const each : present) each->leave();
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t round = 0;; ++round) {
    {
      const std::lock_guard lock(all.mutex);
      std::erase_if(all.farewells, [](const auto& each) { return each->is_over(); });
      if (all.farewells.empty()) return;
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (passed.count() > limit_seconds) return;
    relax(WaitPolicy::yield, round);
  }
}

}  // namespace weft::comm_thread
