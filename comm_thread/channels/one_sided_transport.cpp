#include "comm_thread/channels/one_sided_transport.h"

#include <mpi.h>

#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "comm_thread/channels/link_layout.h"
#include "comm_thread/channels/message_check.h"
#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/mpi/patient_calls.h"

namespace weft::comm_thread {
namespace {

std::uint64_t load(const std::byte* word) {
  auto* value = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(word));
  return std::atomic_ref(*value).load(std::memory_order_acquire);
}

bool completes_locally(OneSidedVariant variant) {
  return variant == OneSidedVariant::flush_local || variant == OneSidedVariant::overlap_local;
}

bool completes_at_once(OneSidedVariant variant) {
  return variant == OneSidedVariant::flush || variant == OneSidedVariant::flush_local;
}

class OneSidedLink {
 public:
  /// `memory`: this link's part of this rank's window. `there`: begin of the other end's part in
  /// the neighbour's window.
  OneSidedLink(const LinkPlan& plan, OneSidedVariant variant, MPI_Win window, std::byte* memory,
               std::uint64_t there)
      : plan_(plan),
        variant_(variant),
        window_(window),
        memory_(memory),
        there_(there),
        slots_(plan.send_bytes, plan.slot_count),
        acknowledgements_(plan.slot_count) {}

  std::span<std::byte> send_slot(std::uint64_t number) { return slots_.slot(number); }

  void start(std::uint64_t number) {
    const std::span<std::byte> message = slots_.slot(number);
    if (completes_locally(variant_)) {
      const std::uint64_t check = message_check(message);
      std::memcpy(message.data() + offsetof(MessageHeader, check), &check, sizeof(check));
    }
    put(message.data(), message.size(),
        put_part::slot_at(number, plan_.send_bytes, plan_.slot_count));
    open_put_ = number;
    if (completes_at_once(variant_)) complete_puts();
  }

  std::uint64_t acknowledged() {
    complete_puts();
    return load(memory_ + put_part::acknowledged_at);
  }

  std::optional<std::span<const std::byte>> arrived() {
    const std::uint64_t number = released_ + 1;
    const std::span<const std::byte> message = receive_slot(number);
    if (completes_locally(variant_) ? is_whole(message, number)
                                    : load(memory_ + put_part::announced_at) >= number)
      return message;
    return std::nullopt;
  }

  /// The acknowledgement is completed at the origin by the transport's next `progress`.
  void release() {
    std::uint64_t& word = acknowledgements_[released_ % plan_.slot_count];
    word = ++released_;
    put_word(word, put_part::acknowledged_at);
  }

 private:
  std::span<const std::byte> receive_slot(std::uint64_t number) const {
    return {memory_ + put_part::slot_at(number, plan_.receive_bytes, plan_.slot_count),
            plan_.receive_bytes};
  }

  static bool is_whole(std::span<const std::byte> message, std::uint64_t number) {
    if (load(message.data() + offsetof(MessageHeader, number)) != number) return false;
    return load(message.data() + offsetof(MessageHeader, check)) == message_check(message);
  }

  /// Completes all Puts so far as the variant requires, and announces the last one unless messages
  /// carry a checksum.
  void complete_puts() {
    if (open_put_ == 0) return;
    const std::uint64_t number = std::exchange(open_put_, 0);
    const PatientCalls patient;
    if (completes_locally(variant_)) {
      check_mpi(MPI_Win_flush_local(plan_.neighbour, window_), "complete a Put at the origin");
      return;
    }
    check_mpi(MPI_Win_flush(plan_.neighbour, window_), "complete a Put");
    put_word(number, put_part::announced_at);
    check_mpi(MPI_Win_flush_local(plan_.neighbour, window_), "announce a message");
  }

  void put(const void* data, std::size_t bytes, std::uint64_t at) const {
    const int count = static_cast<int>(bytes);
    check_mpi(MPI_Put(data, count, MPI_BYTE, plan_.neighbour, static_cast<MPI_Aint>(there_ + at),
                      count, MPI_BYTE, window_),
              "put a message of a channel");
  }

  /// In the order of the calls, unlike Puts: the word never goes back.
  void put_word(const std::uint64_t& word, std::uint64_t at) const {
    check_mpi(
        MPI_Accumulate(&word, 1, MPI_UINT64_T, plan_.neighbour, static_cast<MPI_Aint>(there_ + at),
                       1, MPI_UINT64_T, MPI_REPLACE, window_),
        "count messages of a channel");
  }

  LinkPlan plan_;
  OneSidedVariant variant_;
  MPI_Win window_;
  std::byte* memory_;
  std::uint64_t there_;
  SlotRing slots_;
  std::vector<std::uint64_t> acknowledgements_;  // origin buffers, one for each slot
  std::uint64_t open_put_ = 0;  // number of the last message if its Put is not completed, or 0
  std::uint64_t released_ = 0;
};

class OneSidedTransport final : public Transport {
 public:
  OneSidedTransport(Communicator communicator, std::span<const LinkPlan> plans,
                    OneSidedVariant variant)
      : communicator_(std::move(communicator)) {
    const LinkLayout layout = collective_lay_out_links(communicator_, plans, put_part::bytes_of);
    std::byte* memory = collective_allocate(layout.bytes);
    links_.reserve(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      links_.emplace_back(plans[i], variant, window_, memory + layout.here[i], layout.there[i]);
    collective_check_memory_model();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    communicator_.barrier();  // all windows are zeroed
  }

  bool progress() override {
    // Puts over a network are messages that the target's library must process.
    int is_there = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.handle(), &is_there,
                         MPI_STATUS_IGNORE),
              "progress one-sided communication");
    if (!has_open_acknowledgements_) return true;
    has_open_acknowledgements_ = false;
    const PatientCalls patient;
    check_mpi(MPI_Win_flush_local_all(window_), "complete acknowledgements");
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
  void release(std::size_t link) override {
    links_[link].release();
    has_open_acknowledgements_ = true;
  }

  void collective_close() override {
    const PatientCalls patient;
    check_mpi(MPI_Win_unlock_all(window_), "close one-sided channels");
    check_mpi(MPI_Win_free(&window_), "close one-sided channels");
  }

 private:
  std::byte* collective_allocate(std::uint64_t bytes) {
    void* memory = nullptr;
    check_mpi(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL,
                               communicator_.handle(), static_cast<void*>(&memory), &window_),
              "allocate a window for channels");
    if (bytes > 0) std::memset(memory, 0, bytes);
    return static_cast<std::byte*>(memory);
  }

  void collective_check_memory_model() const {
    int* model = nullptr;
    int is_set = 0;
    MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &is_set);
    collective_attempt(communicator_, [&] {
      if (!is_set || *model != MPI_WIN_UNIFIED)
        throw InputError(
            "transport one-sided: this MPI library keeps windows apart from memory; expected the "
            "unified memory model, or another transport");
    });
  }

  Communicator communicator_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<OneSidedLink> links_;
  bool has_open_acknowledgements_ = false;
};

}  // namespace

std::unique_ptr<Transport> collective_make_one_sided_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans,
                                                               OneSidedVariant variant) {
  return std::make_unique<OneSidedTransport>(communicator.collective_duplicate(), plans, variant);
}

}  // namespace weft::comm_thread
