#include "comm_thread/channels/two_sided_transport.h"

#include <mpi.h>

#include <utility>
#include <vector>

#include "comm_thread/channels/link_ends.h"
#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

class TwoSidedLink {
 public:
  TwoSidedLink(const LinkPlan& plan, MPI_Comm communicator)
      : plan_(plan),
        send_slots_(plan.send_bytes, plan.slot_count),
        receive_slots_(plan.receive_bytes, plan.slot_count),
        sends_(plan.slot_count, MPI_REQUEST_NULL),
        receives_(plan.slot_count, MPI_REQUEST_NULL) {
    for (std::size_t i = 0; i < plan.slot_count; ++i) {
      check_mpi(MPI_Ssend_init(send_slots_.slot(i + 1).data(), static_cast<int>(plan.send_bytes),
                               MPI_BYTE, plan.neighbour, plan.send_tag, communicator, &sends_[i]),
                "prepare a message of a channel");
      check_mpi(
          MPI_Recv_init(receive_slots_.slot(i + 1).data(), static_cast<int>(plan.receive_bytes),
                        MPI_BYTE, plan.neighbour, plan.receive_tag, communicator, &receives_[i]),
          "prepare a message of a channel");
    }
    check_mpi(MPI_Startall(static_cast<int>(receives_.size()), receives_.data()), "open a channel");
  }

  std::span<std::byte> send_slot(std::uint64_t number) { return send_slots_.slot(number); }

  void start() {
    check_mpi(MPI_Start(&sends_[started_ % plan_.slot_count]), "send a message of a channel");
    ++started_;
  }

  std::uint64_t acknowledged() {
    while (acknowledged_ < started_ && test(sends_[acknowledged_ % plan_.slot_count]))
      ++acknowledged_;
    return acknowledged_;
  }

  std::optional<std::span<const std::byte>> arrived() {
    if (!has_arrived_) has_arrived_ = test(receives_[released_ % plan_.slot_count]);
    if (!has_arrived_) return std::nullopt;
    return receive_slots_.slot(released_ + 1);
  }

  void release() {
    check_mpi(MPI_Start(&receives_[released_ % plan_.slot_count]),
              "receive a message of a channel");
    ++released_;
    has_arrived_ = false;
  }

  /// Sends messages to match the other end's posted receives; the requests go to `open`.
  void begin_close(MPI_Comm communicator, std::vector<MPI_Request>& open) const {
    for (std::size_t i = 0; i < plan_.slot_count; ++i) {
      open.push_back(MPI_REQUEST_NULL);
      check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, plan_.neighbour, plan_.send_tag, communicator,
                          &open.back()),
                "close a channel");
    }
  }

  void end_close() {
    check_mpi(
        MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE),
        "close a channel");
    for (MPI_Request& request : sends_) MPI_Request_free(&request);
    for (MPI_Request& request : receives_) MPI_Request_free(&request);
  }

 private:
  static bool test(MPI_Request& request) {
    int is_complete = 0;
    check_mpi(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "progress a channel");
    return is_complete != 0;
  }

  LinkPlan plan_;
  SlotRing send_slots_;
  SlotRing receive_slots_;
  std::vector<MPI_Request> sends_;  // [slot_count], persistent
  std::vector<MPI_Request> receives_;  // [slot_count], persistent
  std::uint64_t started_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t released_ = 0;
  bool has_arrived_ = false;  // the message after the last released one
};

class TwoSidedTransport final : public Transport {
 public:
  TwoSidedTransport(Communicator communicator, std::span<const LinkPlan> plans)
      : communicator_(std::move(communicator)) {
    links_.reserve(plans.size());
    for (const LinkPlan& plan : plans) links_.emplace_back(plan, communicator_.handle());
  }

  std::span<std::byte> send_slot(std::size_t link, std::uint64_t number) override {
    return links_[link].send_slot(number);
  }
  void start(std::size_t link, std::uint64_t) override { links_[link].start(); }
  std::uint64_t acknowledged(std::size_t link) override { return links_[link].acknowledged(); }
  std::optional<std::span<const std::byte>> arrived(std::size_t link) override {
    return links_[link].arrived();
  }
  void release(std::size_t link) override { links_[link].release(); }

  void collective_close() override {
    std::vector<MPI_Request> open;
    for (const TwoSidedLink& link : links_) link.begin_close(communicator_.handle(), open);
    for (TwoSidedLink& link : links_) link.end_close();
    check_mpi(MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE),
              "close the channels");
  }

 private:
  Communicator communicator_;
  std::vector<TwoSidedLink> links_;
};

}  // namespace

std::unique_ptr<Transport> collective_make_two_sided_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans) {
  Communicator own = communicator.collective_duplicate();
  collective_exchange_link_ends(own, plans, std::vector<std::uint64_t>(plans.size()));
  return std::make_unique<TwoSidedTransport>(std::move(own), plans);
}

}  // namespace weft::comm_thread
