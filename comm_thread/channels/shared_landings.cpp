#include "comm_thread/channels/shared_landings.h"

#include <cstdint>
#include <exception>
#include <string>

#include "comm_thread/channels/link_layout.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

/// The neighbours' ranks in `node`.
std::vector<int> collective_node_ranks(const Communicator& communicator, const Communicator& node,
                                       std::span<const LinkPlan> plans) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group local = MPI_GROUP_NULL;
  MPI_Comm_group(communicator.handle(), &all);
  MPI_Comm_group(node.handle(), &local);
  std::vector<int> ranks(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    MPI_Group_translate_ranks(all, 1, &plans[i].neighbour, local, &ranks[i]);
  MPI_Group_free(&all);
  MPI_Group_free(&local);
  collective_attempt(communicator, [&] {
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (ranks[i] == MPI_UNDEFINED)
        throw InputError("transport shared: rank " + std::to_string(plans[i].neighbour) +
                         " is on another node than rank " + std::to_string(communicator.rank()) +
                         "; expected neighbours on one node, or another transport");
  });
  return ranks;
}

constexpr std::uintptr_t line_bytes = 64;

/// The first whole cache line of a rank's part: Open MPI aligns parts to 8 bytes only. The same in
/// every process, because all map whole pages.
std::byte* first_line(void* part) {
  const auto address = reinterpret_cast<std::uintptr_t>(part);
  return static_cast<std::byte*>(part) + (line_bytes - address % line_bytes) % line_bytes;
}

std::byte* collective_allocate(const Communicator& node, std::uint64_t bytes, MPI_Win& window) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");  // every rank's part begins on a page
  void* memory = nullptr;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + line_bytes), 1, info,
                                           node.handle(), static_cast<void*>(&memory), &window);
  MPI_Info_free(&info);
  check_mpi(code, "allocate shared memory for channels");
  return first_line(memory);
}

std::byte* memory_of(int node_rank, MPI_Win window) {
  void* memory = nullptr;
  MPI_Aint size = 0;
  int unit = 0;
  check_mpi(MPI_Win_shared_query(window, node_rank, &size, &unit, static_cast<void*>(&memory)),
            "find a neighbour's shared memory");
  return first_line(memory);
}

}  // namespace

SharedLandings::SharedLandings(const Communicator& communicator, std::span<const LinkPlan> plans,
                               Delivery delivery)
    : node_(communicator.collective_split_node()),
      exceptions_at_start_(std::uncaught_exceptions()) {
  const std::vector<int> node_ranks = collective_node_ranks(communicator, node_, plans);
  const LinkLayout layout =
      collective_lay_out_links(communicator, plans, [delivery](const LinkPlan& plan) {
        return Landing::bytes(delivery, plan.receive_bytes / sizeof(double));
      });

  std::byte* mine = collective_allocate(node_, layout.bytes, window_);
  // Loads and stores of the memory are ordered by Landing's atomics; the epoch allows them.
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    here_.push_back(mine + layout.here[i]);
    there_.push_back(memory_of(node_ranks[i], window_) + layout.there[i]);
    Landing::initialise(here_.back(), delivery, plans[i].receive_bytes / sizeof(double));
  }
  MPI_Win_sync(window_);
  node_.barrier();  // all are initialised before anybody writes
  MPI_Win_sync(window_);
}

SharedLandings::~SharedLandings() {
  if (std::uncaught_exceptions() > exceptions_at_start_) return;  // the other ranks will not come
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

}  // namespace weft::comm_thread
