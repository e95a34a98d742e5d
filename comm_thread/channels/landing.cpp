#include "comm_thread/channels/landing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>

#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/channels/triple_swap.h"

namespace weft::comm_thread {
namespace {

/// Which message it is. racy: of the newest one, read and written as atomics.
struct Label {
  std::uint64_t number = 0;
  std::uint64_t iteration = 0;
};

/// What goes from the writer to the reader beside the elements: one cache line.
struct alignas(64) Control {
  TripleSwap messages;  // async
  std::array<Label, 3> labels{};  // async: of the messages; racy: the first
};
static_assert(sizeof(Control) == 64);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic_ref<double>::is_always_lock_free);

std::size_t payload_bytes(std::size_t element_count) {
  return slot_stride(element_count * sizeof(double));
}

Control& control(std::byte* memory) { return *std::launder(reinterpret_cast<Control*>(memory)); }

/// Of message number `index`; racy: of all messages, with index 0.
std::span<double> elements(std::byte* memory, std::uint32_t index, std::size_t element_count) {
  std::byte* const begin = memory + sizeof(Control) + index * payload_bytes(element_count);
  return {std::launder(reinterpret_cast<double*>(begin)), element_count};
}

}  // namespace

std::size_t Landing::bytes(Delivery delivery, std::size_t element_count) {
  const std::size_t payload = payload_bytes(element_count);
  return sizeof(Control) + (delivery == Delivery::racy ? payload : 3 * payload);
}

void Landing::initialise(std::byte* memory, Delivery delivery, std::size_t element_count) {
  std::construct_at(reinterpret_cast<Control*>(memory));
  const std::uint32_t count = delivery == Delivery::racy ? 1 : 3;
  for (std::uint32_t i = 0; i < count; ++i)
    std::uninitialized_value_construct_n(elements(memory, i, element_count).data(), element_count);
}

Landing::Writer::Writer(std::byte* memory, Delivery delivery, std::size_t element_count)
    : memory_(memory), element_count_(element_count), delivery_(delivery) {
  if (delivery == Delivery::racy) staging_ = std::make_unique<double[]>(element_count);
}

std::span<double> Landing::Writer::buffer() {
  if (delivery_ == Delivery::racy) return {staging_.get(), element_count_};
  return elements(memory_, back_, element_count_);
}

void Landing::Writer::land(std::uint64_t number, std::uint64_t iteration) {
  if (delivery_ == Delivery::racy) {
    land({staging_.get(), element_count_}, number, iteration);
    return;
  }
  Control& passed = control(memory_);
  passed.labels[back_] = {number, iteration};
  back_ = passed.messages.give(back_);
}

void Landing::Writer::land(std::span<const double> values, std::uint64_t number,
                           std::uint64_t iteration) {
  if (delivery_ == Delivery::async) {
    std::copy(values.begin(), values.end(), buffer().begin());
    land(number, iteration);
    return;
  }
  const std::span<double> live = elements(memory_, 0, element_count_);
  for (std::size_t i = 0; i < element_count_; ++i)
    std::atomic_ref(live[i]).store(values[i], std::memory_order_relaxed);
  Label& label = control(memory_).labels.front();
  std::atomic_ref(label.iteration).store(iteration, std::memory_order_release);
  std::atomic_ref(label.number).store(number, std::memory_order_release);
}

Landing::Reader::Reader(std::byte* memory, Delivery delivery, std::size_t element_count)
    : memory_(memory), element_count_(element_count), delivery_(delivery) {
  if (delivery == Delivery::racy) copy_ = std::make_unique<double[]>(element_count);
}

bool Landing::Reader::has_arrived() const {
  if (delivery_ == Delivery::async) return control(memory_).messages.has_fresh();
  return std::atomic_ref(control(memory_).labels.front().number).load(std::memory_order_relaxed) !=
         last_number_;
}

Received Landing::Reader::take() {
  return delivery_ == Delivery::async ? take_async() : take_racy();
}

Received Landing::Reader::take_async() {
  Control& passed = control(memory_);
  front_ = passed.messages.take(front_);
  const Label& newest = passed.labels[front_];
  const std::uint64_t arrived_count = newest.number - last_number_;
  last_number_ = newest.number;
  return {elements(memory_, front_, element_count_), newest.iteration, newest.number,
          arrived_count};
}

Received Landing::Reader::take_racy() {
  Label& label = control(memory_).labels.front();
  const std::uint64_t number = std::atomic_ref(label.number).load(std::memory_order_acquire);
  const std::uint64_t iteration = std::atomic_ref(label.iteration).load(std::memory_order_acquire);
  const std::span<double> live = elements(memory_, 0, element_count_);
  for (std::size_t i = 0; i < element_count_; ++i)
    copy_[i] = std::atomic_ref(live[i]).load(std::memory_order_relaxed);
  const std::uint64_t arrived_count = number - last_number_;
  last_number_ = number;
  return {{copy_.get(), element_count_}, iteration, number, arrived_count};
}

}  // namespace weft::comm_thread
