#include "comm_thread/channels/landing.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/channels/triple_swap.h"

namespace weft::comm_thread {
namespace {

/// Header of a landing, in a cache line of its own.
struct alignas(64) Control {
  TripleSwap messages;  // async
  std::atomic<std::uint64_t> number{0};  // racy: of the newest message
  std::atomic<std::uint64_t> iteration{0};  // racy
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic_ref<double>::is_always_lock_free);

/// Header of each message of an async landing.
struct alignas(64) Label {
  std::uint64_t number = 0;
  std::uint64_t iteration = 0;
};

std::size_t payload_bytes(std::size_t element_count) {
  return slot_stride(element_count * sizeof(double));
}

Control& control(std::byte* memory) { return *std::launder(reinterpret_cast<Control*>(memory)); }

std::byte* message(std::byte* memory, std::uint32_t index, std::size_t element_count) {
  return memory + sizeof(Control) + index * (sizeof(Label) + payload_bytes(element_count));
}

Label& label(std::byte* message) { return *std::launder(reinterpret_cast<Label*>(message)); }

std::span<double> elements(std::byte* payload, std::size_t element_count) {
  return {std::launder(reinterpret_cast<double*>(payload)), element_count};
}

}  // namespace

std::size_t Landing::bytes(Delivery delivery, std::size_t element_count) {
  const std::size_t payload = payload_bytes(element_count);
  return sizeof(Control) + (delivery == Delivery::racy ? payload : 3 * (sizeof(Label) + payload));
}

void Landing::initialise(std::byte* memory, Delivery delivery, std::size_t element_count) {
  std::construct_at(reinterpret_cast<Control*>(memory));
  if (delivery == Delivery::racy) {
    std::uninitialized_value_construct_n(reinterpret_cast<double*>(memory + sizeof(Control)),
                                         element_count);
    return;
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    std::byte* begin = message(memory, i, element_count);
    std::construct_at(reinterpret_cast<Label*>(begin));
    std::uninitialized_value_construct_n(reinterpret_cast<double*>(begin + sizeof(Label)),
                                         element_count);
  }
}

Landing::Writer::Writer(std::byte* memory, Delivery delivery, std::size_t element_count)
    : memory_(memory), delivery_(delivery), element_count_(element_count) {
  if (delivery == Delivery::racy) staging_.resize(element_count);
}

std::span<double> Landing::Writer::buffer() {
  if (delivery_ == Delivery::racy) return staging_;
  return elements(message(memory_, back_, element_count_) + sizeof(Label), element_count_);
}

void Landing::Writer::land(std::uint64_t number, std::uint64_t iteration) {
  if (delivery_ == Delivery::racy) {
    land(staging_, number, iteration);
    return;
  }
  label(message(memory_, back_, element_count_)) = {number, iteration};
  back_ = control(memory_).messages.give(back_);
}

void Landing::Writer::land(std::span<const double> values, std::uint64_t number,
                           std::uint64_t iteration) {
  if (delivery_ == Delivery::async) {
    std::copy(values.begin(), values.end(), buffer().begin());
    land(number, iteration);
    return;
  }
  const std::span<double> live = elements(memory_ + sizeof(Control), element_count_);
  for (std::size_t i = 0; i < element_count_; ++i)
    std::atomic_ref(live[i]).store(values[i], std::memory_order_relaxed);
  control(memory_).iteration.store(iteration, std::memory_order_release);
  control(memory_).number.store(number, std::memory_order_release);
}

void Landing::Writer::prefetch() const {
  constexpr std::size_t line = 64;
  __builtin_prefetch(memory_);
  const bool is_racy = delivery_ == Delivery::racy;
  const std::byte* const begin =
      is_racy ? memory_ + sizeof(Control) : message(memory_, back_, element_count_);
  const std::size_t bytes = payload_bytes(element_count_) + (is_racy ? 0 : sizeof(Label));
  for (std::size_t byte = 0; byte < bytes; byte += line) __builtin_prefetch(begin + byte);
}

Landing::Reader::Reader(std::byte* memory, Delivery delivery, std::size_t element_count)
    : memory_(memory), delivery_(delivery), element_count_(element_count) {
  if (delivery == Delivery::racy) copy_.resize(element_count);
}

bool Landing::Reader::has_arrived() const {
  if (delivery_ == Delivery::async) return control(memory_).messages.has_fresh();
  return control(memory_).number.load(std::memory_order_relaxed) != last_number_;
}

Received Landing::Reader::take() {
  return delivery_ == Delivery::async ? take_async() : take_racy();
}

Received Landing::Reader::take_async() {
  front_ = control(memory_).messages.take(front_);
  std::byte* begin = message(memory_, front_, element_count_);
  const Label& newest = label(begin);
  const std::uint64_t arrived_count = newest.number - last_number_;
  last_number_ = newest.number;
  return {elements(begin + sizeof(Label), element_count_), newest.iteration, newest.number,
          arrived_count};
}

Received Landing::Reader::take_racy() {
  const std::uint64_t number = control(memory_).number.load(std::memory_order_acquire);
  const std::uint64_t iteration = control(memory_).iteration.load(std::memory_order_acquire);
  const std::span<double> live = elements(memory_ + sizeof(Control), element_count_);
  for (std::size_t i = 0; i < element_count_; ++i)
    copy_[i] = std::atomic_ref(live[i]).load(std::memory_order_relaxed);
  const std::uint64_t arrived_count = number - last_number_;
  last_number_ = number;
  return {copy_, iteration, number, arrived_count};
}

}  // namespace weft::comm_thread
