#include "spmv/order/cuthill_mckee.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "perfmodel/page_vector.h"

namespace weft::spmv {
namespace {

using comm_thread::TeamThread;
using Rows = std::span<const std::int32_t>;

/// Rows of a queue whose offsets, lists of neighbours and neighbours' marks are fetched ahead: in a
/// bad order none of them is in a cache.
constexpr std::size_t offsets_ahead = 16;
constexpr std::size_t lists_ahead = 8;
constexpr std::size_t marks_ahead = 4;
/// Rows of a level from which threads share it: two barriers take as long as a tenth of so many.
constexpr std::size_t least_shared_rows = 256;
constexpr int most_threads = 8;

/// Rows of a pattern that one thread has reached, by the number of the search that has.
class Marks {
 public:
  using Mark = std::uint8_t;

  explicit Marks(const SymmetricPattern& pattern)
      : pattern_(pattern), marks_(pattern.degrees.size(), Mark{0}) {}

  Mark& of(std::int32_t row) { return marks_[static_cast<std::size_t>(row)]; }
  Mark of(std::int32_t row) const { return marks_[static_cast<std::size_t>(row)]; }

  /// Marks the neighbours of `row` that are not, and writes them to `to`, which has room for one
  /// more; returns the end of these. No branch: which are marked cannot be foreseen.
  std::int32_t* visit_neighbours(std::int32_t row, Mark with, std::int32_t* to) {
    for (const std::int32_t neighbour : pattern_.neighbours(row)) {
      *to = neighbour;
      Mark& its_mark = of(neighbour);
      to += its_mark != with;
      its_mark = with;
    }
    return to;
  }

  /// Fetches what rows after number `next` of `queue` need. Inline, because GCC leaves out calls of
  /// functions that only fetch.
  [[gnu::always_inline]] void fetch_ahead(Rows queue, std::size_t next) const {
    if (next + offsets_ahead < queue.size())
      __builtin_prefetch(&pattern_.offsets[static_cast<std::size_t>(queue[next + offsets_ahead])]);
    if (next + lists_ahead < queue.size()) {
      const std::int32_t* const list = pattern_.neighbours(queue[next + lists_ahead]).data();
      __builtin_prefetch(list);
      __builtin_prefetch(list + 16);  // the next line of the cache
    }
    if (next + marks_ahead < queue.size())
      for (const std::int32_t row : pattern_.neighbours(queue[next + marks_ahead]))
        __builtin_prefetch(&marks_[static_cast<std::size_t>(row)]);
  }

 private:
  const SymmetricPattern& pattern_;
  perfmodel::PageVector<Mark> marks_;
};

/// Breadth-first searches of one pattern, level by level. The rows of a large level are shared by
/// the threads, each of which marks rows by itself: what several of them find belongs to the first
/// of them, who has the rows that come first. So the order is that of one thread.
///
/// Memory ordering: rows and marks of a thread go to the others at the barriers of the team.
class Searches {
 public:
  Searches(const SymmetricPattern& pattern, int thread_count)
      : pattern_(pattern),
        marks_(static_cast<std::size_t>(thread_count), Marks(pattern)),
        finds_(static_cast<std::size_t>(thread_count)),
        found_(pattern.degrees.size() + 1),
        order_(pattern.degrees.size() + 1) {}

  /// The work of the other threads until `end`.
  void help(const TeamThread& thread) {
    while (true) {
      thread.barrier();
      if (has_ended_) return;
      if (const auto index = static_cast<std::size_t>(thread.index); index < marks_.size())
        find_next(index);
      thread.barrier();
    }
  }
  /// Of the primary thread, as all that follows.
  void end(const TeamThread& thread) {
    has_ended_ = true;
    thread.barrier();
  }

  bool is_numbered(std::int32_t row) const { return marks_.front().of(row) == numbered; }

  /// A row of the connected part of `row` from which another is as far away as from few: it
  /// begins in the last level of searches until that no longer makes them deeper.
  /// Source: George & Liu, ACM Trans. Math. Softw. 5 (1979).
  std::int32_t row_at_rim(const TeamThread& thread, std::int32_t row) {
    searches_ = 0;  // other connected parts have marks of their own
    Depth found = search(thread, row);
    while (true) {
      const std::int32_t next = fewest_neighbours(found.last_level);
      if (next == row) return row;
      const Depth deeper = search(thread, next);
      if (deeper.level_count <= found.level_count) return row;
      row = next;
      found = deeper;
    }
  }

  /// Appends the connected part of `first` to the order, for good.
  void number(const TeamThread& thread, std::int32_t first) {
    numbered_count_ = visit_levels(thread, first, numbered, order_, numbered_count_).second;
  }

  /// The numbered rows in their order.
  Rows order() const { return Rows(order_).first(numbered_count_); }

 private:
  using Mark = Marks::Mark;
  static constexpr Mark numbered = 255;

  struct Depth {
    std::int32_t level_count = 0;
    Rows last_level;  // until the next search
  };
  /// What a thread has found in its share of a level, and room for one more.
  struct alignas(64) Finds {
    perfmodel::PageVector<std::int32_t> rows{};
    std::size_t count = 0;
    std::size_t seen_count = 0;  // of `queue_`: rows that the thread has marked
  };

  Depth search(const TeamThread& thread, std::int32_t first) {
    if (searches_ + 1 == numbered) forget_marks();
    const auto [begin, end] = visit_levels(thread, first, ++searches_, found_, 0);
    return {level_count_, Rows(found_).subspan(begin, end - begin)};
  }

  /// After so many searches of one connected part, which are in `found_`, their numbers begin anew.
  void forget_marks() {
    for (Marks& marks : marks_)
      for (const std::int32_t row : Rows(found_).first(found_count_)) marks.of(row) = 0;
    searches_ = 0;
  }

  /// Appends the connected part of `first` to `count` rows of `queue`; returns where its last level
  /// begins, and the end.
  std::pair<std::size_t, std::size_t> visit_levels(const TeamThread& thread, std::int32_t first,
                                                   Mark with,
                                                   perfmodel::PageVector<std::int32_t>& queue,
                                                   std::size_t count) {
    queue_ = queue.data();
    with_ = with;
    for (Finds& finds : finds_) finds.seen_count = count;
    queue_[count] = first;
    marks_.front().of(first) = with;
    std::size_t begin = count;
    std::size_t last_begin = count;
    level_count_ = 0;
    for (std::size_t end = count + 1; begin < end; end = count_) {
      ++level_count_;
      last_begin = begin;
      level_ = {begin, end};
      count_ = end;
      if (marks_.size() > 1 && end - begin >= least_shared_rows)
        share_level(thread);
      else
        find_alone(begin, end);
      begin = end;
    }
    found_count_ = count_;
    return {last_begin, count_};
  }

  void share_level(const TeamThread& thread) {
    thread.barrier();
    find_next(0);
    thread.barrier();
    // What threads before have found is marked.
    std::int32_t* to = queue_ + count_;
    Marks& marks = marks_.front();
    for (std::size_t other = 1; other < marks_.size(); ++other)
      for (const std::int32_t row : Rows(finds_[other].rows).first(finds_[other].count)) {
        *to = row;
        Mark& its_mark = marks.of(row);
        to += its_mark != with_;
        its_mark = with_;
      }
    count_ = static_cast<std::size_t>(to - queue_);
  }

  /// The share of a thread in a level.
  void find_next(std::size_t index) {
    const auto [begin, end] = level_;
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(end - begin), static_cast<int>(index),
                              static_cast<int>(marks_.size()));
    const Rows rows(queue_, begin + static_cast<std::size_t>(share.end));
    const std::size_t first = begin + static_cast<std::size_t>(share.begin);
    if (index == 0) return find_alone(first, rows.size());
    Finds& finds = finds_[index];
    for (; finds.seen_count < end; ++finds.seen_count)
      marks_[index].of(queue_[finds.seen_count]) = with_;
    std::size_t most = 1;
    for (const std::int32_t row : rows.subspan(first))
      most += static_cast<std::size_t>(pattern_.degree(row));
    most = std::min(most, pattern_.degrees.size() + 1);
    if (finds.rows.size() < most) finds.rows.resize(most);
    finds.count =
        static_cast<std::size_t>(find(index, rows, first, finds.rows.data()) - finds.rows.data());
  }

  /// What the primary thread finds from rows [next, end) of the queue goes behind it.
  void find_alone(std::size_t next, std::size_t end) {
    count_ = static_cast<std::size_t>(find(0, Rows(queue_, end), next, queue_ + count_) - queue_);
  }

  /// Writes what the rows from number `next` on are the first to find; in an order that is numbered
  /// those of each with few neighbours first. Returns the end.
  std::int32_t* find(std::size_t index, Rows rows, std::size_t next, std::int32_t* to) {
    Marks& marks = marks_[index];
    for (; next < rows.size(); ++next) {
      marks.fetch_ahead(rows, next);
      std::int32_t* const begin = to;
      to = marks.visit_neighbours(rows[next], with_, to);
      if (with_ == numbered) std::sort(begin, to, Fewer{pattern_});
    }
    return to;
  }

  struct Fewer {
    const SymmetricPattern& pattern;
    bool operator()(std::int32_t a, std::int32_t b) const {
      const std::int32_t of_a = pattern.degree(a);
      const std::int32_t of_b = pattern.degree(b);
      return of_a != of_b ? of_a < of_b : a < b;
    }
  };

  std::int32_t fewest_neighbours(Rows rows) const {
    return *std::ranges::min_element(rows, Fewer{pattern_});
  }

  const SymmetricPattern& pattern_;
  std::vector<Marks> marks_;  // by thread; the primary's are those of all
  std::vector<Finds> finds_;  // by thread; not of the primary
  // One more than there are rows, for what is written and not counted.
  perfmodel::PageVector<std::int32_t> found_;  // by the last search
  perfmodel::PageVector<std::int32_t> order_;
  std::size_t numbered_count_ = 0;
  std::size_t found_count_ = 0;
  std::int32_t level_count_ = 0;
  Mark searches_ = 0;
  // Of the level that is shared.
  std::int32_t* queue_ = nullptr;
  std::size_t count_ = 0;  // of rows in the queue
  std::pair<std::size_t, std::size_t> level_;
  Mark with_ = 0;
  bool has_ended_ = false;
};

}  // namespace

// On two idle cores (Zen 4), in the order of the mesh generator: fem50k 7 ms, fem220k 38, and a
// mesh of a million rows in random order 270; without fetching ahead and with a branch for each
// neighbour 14, 125 and 1000. Numbers of a first search, so that the others find near rows near
// each other, gained nothing beside that.
std::vector<std::int32_t> reverse_cuthill_mckee(const comm_thread::ComputeTeam& team,
                                                const SymmetricPattern& pattern) {
  const auto row_count = static_cast<std::int32_t>(pattern.degrees.size());
  Searches searches(pattern, std::min(team.thread_count(), most_threads));
  std::vector<std::int32_t> new_rows(pattern.degrees.size());
  team.run([&](const TeamThread& thread) {
    if (!thread.is_primary()) return searches.help(thread);
    for (std::int32_t row = 0; row < row_count; ++row)
      if (!searches.is_numbered(row)) searches.number(thread, searches.row_at_rim(thread, row));
    searches.end(thread);
  });
  std::int32_t next = row_count;
  for (const std::int32_t row : searches.order()) new_rows[static_cast<std::size_t>(row)] = --next;
  return new_rows;
}

}  // namespace weft::spmv
