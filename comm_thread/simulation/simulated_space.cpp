#include "comm_thread/simulation/simulated_space.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weft::comm_thread {

class SimulatedMessages final : public PreparedMessages {
 public:
  SimulatedMessages(SimulatedNetwork& network, std::uint64_t space, int rank,
                    std::span<const MessageDraft> drafts)
      : network_(network), rank_(rank) {
    for (const MessageDraft& draft : drafts) {
      const SimulatedRoute route = draft.is_receive ? SimulatedRoute{draft.rank, rank, draft.tag}
                                                    : SimulatedRoute{rank, draft.rank, draft.tag};
      messages_.push_back({&network.port(space, route, draft.bytes),
                           static_cast<std::byte*>(draft.data), draft.bytes, draft.is_receive,
                           false});
      if (draft.is_receive) network.add_receive(rank, *messages_.back().port);
    }
  }

  void start(std::size_t first, std::size_t count) override {
    arrivals_ = {.missing = 0, .last = network_.now()};
    bool receives = false;
    for (Message& message : part(first, count)) {
      message.is_open = true;
      receives = receives || message.is_receive;
      if (message.is_receive)
        expect(*message.port);
      else
        send(message);
    }
    if (receives && arrivals_.missing == 0) network_.announce(rank_, arrivals_.last);
  }

  std::size_t test(std::size_t first, std::size_t count, std::span<int> completed) override {
    std::size_t completed_count = 0;
    const std::span<Message> messages = part(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      Message& message = messages[i];
      if (!message.is_open || (message.is_receive && !receive(message))) continue;
      message.is_open = false;
      completed[completed_count++] = static_cast<int>(i);
    }
    return completed_count;
  }

 private:
  struct Message {
    SimulatedNetwork::Port* port;
    std::byte* data;
    std::size_t bytes;
    bool is_receive;
    bool is_open;
  };

  std::span<Message> part(std::size_t first, std::size_t count) {
    return std::span(messages_).subspan(first, count);
  }

  void expect(SimulatedNetwork::Port& port) {
    SimulatedNetwork::Port::Messages& messages = port.messages;
    if (messages.is_empty()) {
      port.waiting = &arrivals_;
      ++arrivals_.missing;
    } else {
      arrivals_.last = std::max(arrivals_.last, messages.times(messages.first()).arrival);
    }
  }

  void send(const Message& message) {
    SimulatedNetwork::Port& port = *message.port;
    std::byte* const payload = port.messages.payload(port.messages.end());
    if (message.bytes > 0) std::memcpy(payload, message.data, message.bytes);
    network_.start(port, message.bytes);
  }

  bool receive(const Message& message) {
    SimulatedNetwork::Port::Messages& waiting = message.port->messages;
    if (waiting.is_empty() || waiting.times(waiting.first()).arrival > network_.now()) return false;
    if (message.bytes > 0)
      std::memcpy(message.data, waiting.payload(waiting.first()), message.bytes);
    waiting.pop();
    return true;
  }

  SimulatedNetwork& network_;
  int rank_;
  std::vector<Message> messages_;
  SimulatedNetwork::Arrivals arrivals_;
};

/// An all-reduce of the network's own. Contributions are combined in the order of simulated time.
class SimulatedReduction final : public PreparedReduction {
 public:
  SimulatedReduction(SimulatedNetwork& network, std::uint64_t space,
                     std::span<const ReduceOperation> operations)
      : network_(network),
        space_(space),
        operations_(operations.begin(), operations.end()),
        values_(operations.size()) {}

  std::span<double> values() override { return values_; }

  void start() override {
    SimulatedNetwork::Reduction& round = network_.reduction(space_, ++round_, values_.size());
    if (round.contributed == network_.rank_count()) round.contributed = 0;
    for (std::size_t i = 0; i < values_.size(); ++i)
      round.values[i] = round.contributed == 0
                            ? values_[i]
                            : combine(operations_[i], round.values[i], values_[i]);
    if (++round.contributed < network_.rank_count()) return;
    round.complete = network_.model().reduction(network_.rank_count(), network_.now());
    for (int rank = 0; rank < network_.rank_count(); ++rank)
      network_.announce(rank, round.complete);
  }

  bool test() override {
    const SimulatedNetwork::Reduction& round = network_.reduction(space_, round_, values_.size());
    if (round.contributed < network_.rank_count() || round.complete > network_.now()) return false;
    values_ = round.values;
    return true;
  }

 private:
  SimulatedNetwork& network_;
  std::uint64_t space_;
  std::vector<ReduceOperation> operations_;
  std::vector<double> values_;
  std::uint64_t round_ = 0;
};

std::unique_ptr<MessageSpace> SimulatedSpace::collective_duplicate_space() const {
  constexpr std::uint64_t most_duplicates = 64;
  if (++duplicate_count_ >= most_duplicates)
    throw std::logic_error("a simulated space was duplicated too often");
  return std::unique_ptr<MessageSpace>(
      new SimulatedSpace(network_, rank(), id_ * most_duplicates + duplicate_count_));
}

std::unique_ptr<PreparedMessages> SimulatedSpace::prepare(
    std::span<const MessageDraft> drafts) const {
  return std::make_unique<SimulatedMessages>(network_, id_, rank(), drafts);
}

std::unique_ptr<PreparedReduction> SimulatedSpace::prepare_reduction(
    std::span<const ReduceOperation> operations) const {
  return std::make_unique<SimulatedReduction>(network_, id_, operations);
}

}  // namespace weft::comm_thread
