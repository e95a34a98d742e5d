#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::solver {

/// What is next on simulated ranks: the earliest first, of equal times that of the lowest rank.
///
///     near (sorted) | 1 | 2 | 3 | … |  ≤  far (a heap of four children each)
///
/// The next few events are known beforehand, so that the memory of their ranks can be fetched.
class EventQueue {
 public:
  enum class Kind : std::uint32_t { step, poll };

  struct Event {
    double seconds = 0;
    std::uint32_t rank = 0;
    Kind kind = Kind::step;

    bool operator<(const Event& other) const {
      if (seconds != other.seconds) return seconds < other.seconds;
      if (rank != other.rank) return rank < other.rank;
      return kind < other.kind;
    }
  };

  /// Events that `upcoming` knows, if there are so many.
  static constexpr std::size_t known_ahead = 8;

  bool is_empty() const { return begin_ == end_; }
  const Event& next() const { return near_[begin_]; }

  /// The event after `ahead` others, or null.
  const Event* upcoming(std::size_t ahead) const {
    return begin_ + ahead < end_ ? &near_[begin_ + ahead] : nullptr;
  }

  void push(const Event& event) {
    const bool is_far = end_ - begin_ >= known_ahead && !(event < near_[end_ - 1]);
    if (is_far) {
      push_far(event);
      return;
    }
    if (end_ == capacity && begin_ > 0) move_to_front();
    if (end_ == capacity) push_far(near_[--end_]);
    std::size_t place = end_++;
    for (; place > begin_ && event < near_[place - 1]; --place) near_[place] = near_[place - 1];
    near_[place] = event;
  }

  void pop() {
    ++begin_;
    if (end_ - begin_ >= known_ahead || heap_.empty()) return;
    move_to_front();
    while (end_ < refilled && !heap_.empty()) {
      near_[end_++] = heap_.front();
      pop_far();
    }
  }

 private:
  static constexpr std::size_t arity = 4;
  static constexpr std::size_t capacity = 32;
  static constexpr std::size_t refilled = 16;

  void move_to_front() {
    std::copy(near_.begin() + static_cast<std::ptrdiff_t>(begin_),
              near_.begin() + static_cast<std::ptrdiff_t>(end_), near_.begin());
    end_ -= begin_;
    begin_ = 0;
  }

  void push_far(const Event& event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    for (; place > 0 && event < heap_[(place - 1) / arity]; place = (place - 1) / arity)
      heap_[place] = heap_[(place - 1) / arity];
    heap_[place] = event;
  }

  void pop_far() {
    const Event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t place = 0;
    while (true) {
      const std::size_t first = place * arity + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      const std::size_t end = std::min(first + arity, heap_.size());
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < last)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = last;
  }

  std::array<Event, capacity> near_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<Event> heap_;
};

}  // namespace weft::solver
