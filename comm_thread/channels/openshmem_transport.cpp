#include "comm_thread/channels/openshmem_transport.h"

#include <mpi.h>
#include <shmem.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/channels/link_ends.h"
#include "comm_thread/channels/link_layout.h"
#include "comm_thread/channels/openshmem_session.h"
#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

constexpr std::size_t heap_line_bytes = 64;

std::uint64_t* word(std::byte* place) { return reinterpret_cast<std::uint64_t*>(place); }

/// Returns true if the count that another rank puts at `place` is at least `value`; data put before
/// it can then be read.
bool has_reached(std::byte* place, std::uint64_t value) {
  if (!shmem_uint64_test(word(place), SHMEM_CMP_GE, value)) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

class OpenShmemLink {
 public:
  /// `memory`: this link's part of this rank's symmetric memory. `there`: the address of the other
  /// end's part, on processing element `element`.
  OpenShmemLink(const LinkPlan& plan, OpenShmemVariant variant, std::byte* memory, std::byte* there,
                int element)
      : plan_(plan),
        variant_(variant),
        memory_(memory),
        there_(there),
        element_(element),
        slots_(plan.send_bytes, plan.slot_count) {}

  std::span<std::byte> send_slot(std::uint64_t number) { return slots_.slot(number); }

  void start(std::uint64_t number) {
    const std::span<const std::byte> message = slots_.slot(number);
    std::byte* const slot = there_ + put_part::slot_at(number, plan_.send_bytes, plan_.slot_count);
    if (variant_ == OpenShmemVariant::put)
      shmem_putmem(slot, message.data(), message.size(), element_);
    else
      shmem_putmem_nbi(slot, message.data(), message.size(), element_);
    shmem_fence();
    shmem_uint64_p(word(there_ + put_part::announced_at), number, element_);
  }

  std::uint64_t acknowledged() {
    if (has_reached(memory_ + put_part::acknowledged_at, acknowledged_ + 1))
      acknowledged_ = std::atomic_ref(*word(memory_ + put_part::acknowledged_at))
                          .load(std::memory_order_relaxed);
    return acknowledged_;
  }

  std::optional<std::span<const std::byte>> arrived() {
    const std::uint64_t number = released_ + 1;
    if (!has_reached(memory_ + put_part::announced_at, number)) return std::nullopt;
    return std::span<const std::byte>(
        memory_ + put_part::slot_at(number, plan_.receive_bytes, plan_.slot_count),
        plan_.receive_bytes);
  }

  void release() {
    std::atomic_thread_fence(std::memory_order_release);
    shmem_uint64_p(word(there_ + put_part::acknowledged_at), ++released_, element_);
  }

 private:
  LinkPlan plan_;
  OpenShmemVariant variant_;
  std::byte* memory_;
  std::byte* there_;
  int element_;
  SlotRing slots_;
  std::uint64_t acknowledged_ = 0;  // the newest count seen
  std::uint64_t released_ = 0;
};

/// Symmetric memory of the same size on all ranks, zeroed. Aligned to cache lines.
std::byte* collective_allocate(const Communicator& communicator, std::size_t own_bytes) {
  const auto bytes = static_cast<std::size_t>(
      communicator.max(static_cast<std::int64_t>(std::max(own_bytes, heap_line_bytes))));
  void* memory = shmem_align(heap_line_bytes, bytes);
  collective_attempt(communicator, [&] {
    if (memory == nullptr)
      throw InputError("transport shmem: found no room for " + std::to_string(bytes) +
                       " bytes of symmetric memory on every rank; expected a larger "
                       "SHMEM_SYMMETRIC_SIZE in the environment");
  });
  std::memset(memory, 0, bytes);
  communicator.barrier();  // nobody puts before all are zeroed
  return static_cast<std::byte*>(memory);
}

class OpenShmemTransport final : public Transport {
 public:
  OpenShmemTransport(Communicator communicator, std::span<const LinkPlan> plans,
                     OpenShmemVariant variant)
      : communicator_(std::move(communicator)) {
    const LinkLayout layout = collective_lay_out_links(communicator_, plans, put_part::bytes_of);
    // A processing element need not have the number of its rank.
    const std::vector<std::uint64_t> elements = collective_exchange_link_ends(
        communicator_, plans, std::vector(plans.size(), static_cast<std::uint64_t>(shmem_my_pe())));
    memory_ = collective_allocate(communicator_, layout.bytes);
    links_.reserve(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      links_.emplace_back(plans[i], variant, memory_ + layout.here[i], memory_ + layout.there[i],
                          static_cast<int>(elements[i]));
  }

  bool progress() override {
    // Over a network without remote memory access, puts are messages that the target's library must
    // process; Open MPI's OpenSHMEM does that inside MPI calls.
    int is_there = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.handle(), &is_there,
                         MPI_STATUS_IGNORE),
              "progress OpenSHMEM");
    return true;
  }

  std::span<std::byte> send_slot(std::size_t link, std::uint64_t number) override {
    return links_[link].send_slot(number);
  }
  void start(std::size_t link, std::uint64_t number) override { links_[link].start(number); }
  std::uint64_t acknowledged(std::size_t link) override { return links_[link].acknowledged(); }
  std::optional<std::span<const std::byte>> arrived(std::size_t link) override {
    return links_[link].arrived();
  }
  void release(std::size_t link) override { links_[link].release(); }

  void collective_close() override {
    shmem_quiet();
    shmem_free(memory_);  // begins with a barrier
  }

 private:
  Communicator communicator_;
  std::byte* memory_ = nullptr;
  std::vector<OpenShmemLink> links_;
};

}  // namespace

bool has_openshmem() { return true; }

std::unique_ptr<Transport> collective_make_openshmem_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans,
                                                               OpenShmemVariant variant) {
  collective_start_openshmem(communicator);
  return std::make_unique<OpenShmemTransport>(communicator.collective_duplicate(), plans, variant);
}

}  // namespace weft::comm_thread
