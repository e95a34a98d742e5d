#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::solver {

/// What is next on simulated ranks: the earliest first, of equal times that of the lowest rank.
///
///     near (sorted) | 1 | 2 | … | ≤ heap ≤ buckets | 7 9 8 |  | 12 | … | ≤ later (in no order)
///
/// The next few events are known beforehand, so that the memory of their ranks can be fetched. The
/// heap is that of one bucket, a few events; when all buckets are empty, what is later is dealt to
/// new ones. So an event costs the same however many there are. 65 536 events in one heap, whose
/// memory exceeds a core's caches, took 9 % of a simulation.
/// Source: Tang, Goh, Thng 2005, "Ladder queue", with one rung.
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
  static constexpr std::size_t known_ahead = 16;

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
    if (end_ - begin_ >= known_ahead || far_count_ == 0) return;
    move_to_front();
    for (; end_ < refilled && far_count_ > 0; --far_count_) {
      while (heap_.empty()) open_bucket();
      near_[end_++] = heap_.front();
      pop_heap();
    }
  }

 private:
  static constexpr std::size_t arity = 4;
  static constexpr std::size_t capacity = 64;
  static constexpr std::size_t refilled = 32;
  static constexpr std::size_t events_per_bucket = 4;
  static constexpr std::uint32_t none = 0xffffffff;

  /// Events that were dealt to it, up to the begin of the next bucket, and added later.
  struct Bucket {
    std::uint32_t begin = 0;  // in `dealt_`
    std::uint32_t added = none;  // in `added_`
  };
  struct Added {
    Event event;
    std::uint32_t next;  // of the same bucket
  };

  void move_to_front() {
    std::copy(near_.begin() + static_cast<std::ptrdiff_t>(begin_),
              near_.begin() + static_cast<std::ptrdiff_t>(end_), near_.begin());
    end_ -= begin_;
    begin_ = 0;
  }

  void push_far(const Event& event) {
    ++far_count_;
    put(event);
  }

  std::size_t bucket_count() const { return buckets_.size() - 1; }
  /// Buckets of equal width: the place ascends with the time.
  double bucket_of(const Event& event) const { return (event.seconds - first_) * per_second_; }

  void put(const Event& event) {
    const double bucket = bucket_of(event);
    if (bucket < static_cast<double>(opened_))
      push_heap(event);
    else if (bucket < static_cast<double>(bucket_count()))
      push_bucket(buckets_[static_cast<std::size_t>(bucket)], event);
    else
      later_.push_back(event);
  }

  void push_bucket(Bucket& bucket, const Event& event) {
    added_.push_back(
        {event, std::exchange(bucket.added, static_cast<std::uint32_t>(added_.size()))});
  }

  /// Moves the events of the next bucket to the heap, which is empty.
  void open_bucket() {
    if (opened_ == bucket_count()) deal_later();
    const Bucket& bucket = buckets_[opened_++];
    for (std::size_t i = bucket.begin; i < buckets_[opened_].begin; ++i) push_heap(dealt_[i]);
    for (std::uint32_t i = bucket.added; i != none; i = added_[i].next) push_heap(added_[i].event);
  }

  /// To new buckets; all are empty. There are later events.
  void deal_later() {
    const auto by_time = [](const Event& a, const Event& b) { return a.seconds < b.seconds; };
    const auto [least, most] = std::ranges::minmax_element(later_, by_time);
    const double span = most->seconds - least->seconds;
    const std::size_t count = span > 0 ? later_.size() / events_per_bucket + 1 : 1;
    constexpr double room = 1 - 1e-9;  // the last event is inside, too
    first_ = least->seconds;
    per_second_ = room * static_cast<double>(count) / std::max(span, 1e-300);
    opened_ = 0;
    added_.clear();
    buckets_.assign(count + 1, {});
    const auto bucket = [this](const Event& event) -> Bucket& {
      return buckets_[static_cast<std::size_t>(bucket_of(event))];
    };
    for (const Event& event : later_) ++bucket(event).begin;
    std::uint32_t end = 0;
    for (Bucket& each : buckets_) each.begin = end += each.begin;
    dealt_.resize(later_.size());
    for (const Event& event : later_) dealt_[--bucket(event).begin] = event;
    later_.clear();
  }

  void push_heap(const Event& event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    for (; place > 0 && event < heap_[(place - 1) / arity]; place = (place - 1) / arity)
      heap_[place] = heap_[(place - 1) / arity];
    heap_[place] = event;
  }

  void pop_heap() {
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
  std::size_t far_count_ = 0;  // of all others
  std::vector<Event> heap_;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(1);  // and their end
  std::size_t opened_ = 0;  // buckets that are empty for good
  double first_ = 0;  // time at which the first begins
  double per_second_ = 0;
  std::vector<Event> dealt_;
  std::vector<Added> added_;
  std::vector<Event> later_;
};

}  // namespace weft::solver
