#include "library/state/vector_map.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace weft::library {
namespace {

using comm_thread::HaloNeighbour;
using spmv::RowPartition;

struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

Range common(const RowPartition& one, int rank_of_one, const RowPartition& other,
             int rank_of_other) {
  const std::int64_t begin = std::max(one.begin(rank_of_one), other.begin(rank_of_other));
  const std::int64_t end = std::min(one.end(rank_of_one), other.end(rank_of_other));
  return {begin, std::max(begin, end)};
}

/// Whom this rank sends its rows of `from` to, because they own them in `to`, and who sends to it.
std::vector<HaloNeighbour> neighbours(const RowPartition& from, const RowPartition& to, int rank) {
  std::vector<HaloNeighbour> found;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (int other = 0; other < from.rank_count(); ++other) {
    if (other == rank) continue;
    HaloNeighbour neighbour{.rank = other, .send_begin = sent, .receive_begin = received};
    neighbour.send_count = static_cast<std::int64_t>(common(from, rank, to, other).size());
    neighbour.receive_count = static_cast<std::int64_t>(common(from, other, to, rank).size());
    if (neighbour.send_count + neighbour.receive_count == 0) continue;
    sent += neighbour.send_count;
    received += neighbour.receive_count;
    found.push_back(neighbour);
  }
  return found;
}

void copy_by_threads(const comm_thread::ComputeTeam& team, std::span<const double> from,
                     std::span<double> to) {
  // Waking the team takes longer than a copy of 256 KB.
  constexpr std::size_t few = 32768;
  if (from.size() < few) {
    std::ranges::copy(from, to.begin());
    return;
  }
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto share = comm_thread::share_of(std::ssize(from), thread.index, thread.count);
    std::copy(from.begin() + share.begin, from.begin() + share.end, to.begin() + share.begin);
  });
}

}  // namespace

void SameRows::collective_to_operator(std::span<const double> given, std::span<double> values) {
  copy_by_threads(team_, given, values);
}

void SameRows::collective_from_operator(std::span<const double> values, std::span<double> given) {
  copy_by_threads(team_, values.first(row_count_), given);
}

MovedRows::MovedRows(const comm_thread::Communicator& communicator,
                     comm_thread::CommThread& comm_thread, const RowPartition& given,
                     const RowPartition& moved, int tag)
    : comm_thread_(comm_thread) {
  const int rank = communicator.rank();
  const Range kept = common(given, rank, moved, rank);
  kept_ = kept.size();
  first_row_ = given.begin(rank);
  const auto side = [&](const RowPartition& rows) {
    const std::int64_t begin = rows.begin(rank);
    // Without common rows all of them are below.
    const std::int64_t below = kept_ > 0 ? kept.begin - begin : rows.size(rank);
    return Side{static_cast<std::size_t>(below), static_cast<std::size_t>(rows.size(rank))};
  };
  given_side_ = side(given);
  moved_side_ = side(moved);
  given_count_ = given_side_.count;
  arrived_.resize(moved_side_.count - kept_);
  arrived_back_.resize(given_side_.count - kept_);
  there_.emplace(communicator, neighbours(given, moved, rank), arrived_, tag);
  back_.emplace(communicator, neighbours(moved, given, rank), arrived_back_, tag + 1);
  communicator.barrier();  // both ends of every pair exist
}

void MovedRows::collective_travel(const Side& from_side, std::span<const double> from,
                                  const Side& to_side, std::span<double> to,
                                  comm_thread::HaloExchange<double>& exchange) const {
  const auto parts = [&](const Side& side, auto all) {
    return std::array{all.first(side.below), all.subspan(side.below, kept_),
                      all.subspan(side.below + kept_, side.above(kept_))};
  };
  const auto sent = parts(from_side, from);
  const auto received = parts(to_side, to.first(to_side.count));
  const auto end = std::ranges::copy(sent[0], exchange.send_buffer().begin()).out;
  std::ranges::copy(sent[2], end);
  std::optional<comm_thread::Pending> pending;
  if (exchange.has_neighbours()) pending = exchange.post(comm_thread_);
  std::ranges::copy(sent[1], received[1].begin());
  if (pending) pending->wait();
  const std::span<const double> arrived = &exchange == &*there_ ? arrived_ : arrived_back_;
  std::ranges::copy(arrived.first(received[0].size()), received[0].begin());
  std::ranges::copy(arrived.subspan(received[0].size()), received[2].begin());
}

void MovedRows::collective_to_operator(std::span<const double> given, std::span<double> values) {
  collective_travel(given_side_, given, moved_side_, values, *there_);
}

void MovedRows::collective_from_operator(std::span<const double> values, std::span<double> given) {
  collective_travel(moved_side_, values.first(moved_side_.count), given_side_, given, *back_);
}

void OrderedRows::collective_to_operator(std::span<const double> given, std::span<double> values) {
  std::ranges::copy(order_.collective_apply(given), values.begin());
}

void OrderedRows::collective_from_operator(std::span<const double> values,
                                           std::span<double> given) {
  const auto own = static_cast<std::size_t>(order_.ordered().size(rank_));
  std::ranges::copy(order_.collective_undo(values.first(own)), given.begin());
}

GridPoints::GridPoints(const spmv::GridOperator& op) : op_(op) {
  for (int thread = 0; thread < op.team().thread_count(); ++thread)
    for (const spmv::Segment& segment : op.segments(thread)) lines_.push_back({0, segment});
  std::ranges::sort(lines_, {}, [](const Line& line) { return line.segment.begin; });
  for (Line& line : lines_) {
    line.given = given_count_;
    given_count_ += static_cast<std::size_t>(line.segment.count);
  }
}

const GridPoints::Line& GridPoints::line_of(std::size_t given) const {
  return *std::prev(std::ranges::upper_bound(lines_, given, {}, &Line::given));
}

std::size_t GridPoints::consecutive_rows(std::size_t given) const {
  const Line& line = line_of(given);
  return static_cast<std::size_t>(line.segment.count) - (given - line.given);
}

std::int64_t GridPoints::global_row(std::size_t given) const {
  const Line& line = line_of(given);
  return op_.global_row(line.segment.begin + (given - line.given));
}

void GridPoints::collective_to_operator(std::span<const double> given, std::span<double> values) {
  for (const Line& line : lines_)
    std::copy_n(given.begin() + static_cast<std::ptrdiff_t>(line.given), line.segment.count,
                values.begin() + static_cast<std::ptrdiff_t>(line.segment.begin));
}

void GridPoints::collective_from_operator(std::span<const double> values, std::span<double> given) {
  for (const Line& line : lines_)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(line.segment.begin),
                line.segment.count, given.begin() + static_cast<std::ptrdiff_t>(line.given));
}

}  // namespace weft::library
