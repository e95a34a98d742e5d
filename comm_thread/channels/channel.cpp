#include "comm_thread/channels/channel.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "perfmodel/thread_trace.h"

namespace weft::comm_thread {
namespace {

constexpr std::uint64_t data_kind = 1;
constexpr std::uint64_t closing_kind = 2;

void write_header(std::span<std::byte> slot, const MessageHeader& header) {
  std::memcpy(slot.data(), &header, sizeof(header));
}

MessageHeader read_header(std::span<const std::byte> slot) {
  MessageHeader header;
  std::memcpy(&header, slot.data(), sizeof(header));
  return header;
}

double* payload(std::span<std::byte> slot) {
  return std::launder(reinterpret_cast<double*>(slot.data() + sizeof(MessageHeader)));
}

const double* payload(std::span<const std::byte> slot) {
  return std::launder(reinterpret_cast<const double*>(slot.data() + sizeof(MessageHeader)));
}

}  // namespace

Channel::Channel(const ChannelSpec& spec, Delivery delivery, CommThread& comm_thread,
                 Service& service, std::byte* landing, Transport* transport, std::size_t link,
                 std::byte* neighbours_landing)
    : spec_(spec),
      transport_(transport),
      comm_thread_(comm_thread),
      reader_(landing, delivery, spec.receive_count),
      service_(service),
      writer_(transport ? landing : neighbours_landing, delivery,
              transport ? spec.receive_count : spec.send_count),
      link_(static_cast<std::uint32_t>(link)) {}

std::uint64_t Channel::in_flight() const {
  return !transport_ ? 0 : sent_count() - acknowledged_.load(std::memory_order_acquire);
}

bool Channel::can_send() const {
  if (!transport_) return true;
  comm_thread_.progress_services_here();
  service_.rethrow_error();
  return in_flight() < static_cast<std::uint64_t>(spec_.max_in_flight);
}

std::span<double> Channel::outgoing() {
  if (!transport_) return writer_.buffer();
  return {payload(transport_->send_slot(link_, sent_count() + 1)), spec_.send_count};
}

bool Channel::send(std::uint64_t iteration) {
  if (!can_send()) return false;
  const std::uint64_t number = sent_count() + 1;
  perfmodel::trace_instant("send to", spec_.neighbour);
  if (!transport_)
    writer_.land(number, iteration);
  else
    write_header(transport_->send_slot(link_, number),
                 {.number = number, .iteration = iteration, .kind = data_kind});
  sent_.store(number, std::memory_order_release);
  return true;
}

bool Channel::can_receive() const {
  if (transport_) {
    comm_thread_.progress_services_here();
    service_.rethrow_error();
  }
  return reader_.has_arrived();
}

bool Channel::progress() {
  bool moved = progress_sending();
  moved = progress_receiving() || moved;
  if (is_closing_acknowledged_ && has_received_closing_)
    is_drained_.store(true, std::memory_order_release);
  return moved;
}

bool Channel::progress_sending() {
  bool moved = false;
  const std::uint64_t acknowledged = transport_->acknowledged(link_);
  is_closing_acknowledged_ = has_sent_closing_ && acknowledged == started_;
  const std::uint64_t of_program = acknowledged - (is_closing_acknowledged_ ? 1 : 0);
  if (of_program != acknowledged_.load(std::memory_order_relaxed)) {
    acknowledged_.store(of_program, std::memory_order_release);
    moved = true;
  }
  // Read before `sent_`: nothing is sent after closing.
  const bool is_closing = is_closing_.load(std::memory_order_acquire);
  for (const std::uint64_t sent = sent_.load(std::memory_order_acquire);
       started_ < sent && !has_sent_closing_; moved = true) {
    transport_->start(link_, ++started_);
    perfmodel::trace_instant("sent to", spec_.neighbour);
  }
  if (is_closing && !has_sent_closing_ &&
      started_ - acknowledged < static_cast<std::uint64_t>(spec_.max_in_flight)) {
    send_closing_message();
    moved = true;
  }
  return moved;
}

void Channel::send_closing_message() {
  const std::uint64_t number = ++started_;
  write_header(transport_->send_slot(link_, number), {.number = number, .kind = closing_kind});
  transport_->start(link_, number);
  has_sent_closing_ = true;
}

bool Channel::progress_receiving() {
  bool moved = false;
  // At most one ring per poll, or a busy neighbour would starve the others.
  for (int i = 0; i < spec_.max_in_flight && !has_received_closing_; ++i) {
    const std::optional<std::span<const std::byte>> message = transport_->arrived(link_);
    if (!message) break;
    const MessageHeader header = read_header(*message);
    if (header.number != ++arrived_)
      throw std::logic_error("channel from rank " + std::to_string(spec_.neighbour) +
                             ": found message " + std::to_string(header.number) + "; expected " +
                             std::to_string(arrived_));
    if (header.kind == closing_kind)
      has_received_closing_ = true;
    else
      writer_.land({payload(*message), spec_.receive_count}, header.number, header.iteration);
    transport_->release(link_);
    perfmodel::trace_instant("received from", spec_.neighbour);
    moved = true;
  }
  return moved;
}

}  // namespace weft::comm_thread
