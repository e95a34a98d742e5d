#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace weft::solver {

/// What is next on simulated ranks: the earliest first, of equal times that of the lowest rank.
class EventQueue {
 public:
  enum class Kind : std::uint32_t { step, poll };

  struct Event {
    double seconds;
    std::uint32_t rank;
    Kind kind;

    bool operator<(const Event& other) const {
      if (seconds != other.seconds) return seconds < other.seconds;
      if (rank != other.rank) return rank < other.rank;
      return kind < other.kind;
    }
  };

  bool is_empty() const { return heap_.empty(); }
  const Event& next() const { return heap_.front(); }

  void push(const Event& event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    for (; place > 0 && event < heap_[(place - 1) / arity]; place = (place - 1) / arity)
      heap_[place] = heap_[(place - 1) / arity];
    heap_[place] = event;
  }

  void pop() {
    const Event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t place = 0;
    while (true) {
      const std::size_t first = place * arity + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      const std::size_t end = first + arity < heap_.size() ? first + arity : heap_.size();
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < last)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = last;
  }

 private:
  static constexpr std::size_t arity = 4;
  std::vector<Event> heap_;
};

}  // namespace weft::solver
