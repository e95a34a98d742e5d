#include "library/system/vector_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::library {
namespace {

using spmv::RowPartition;

/// The rows that both ranks have, each in another partition.
comm_thread::Share common(const RowPartition& one, int rank_of_one, const RowPartition& other,
                          int rank_of_other) {
  const std::int64_t begin = std::max(one.begin(rank_of_one), other.begin(rank_of_other));
  const std::int64_t end = std::min(one.end(rank_of_one), other.end(rank_of_other));
  return {begin, std::max(begin, end)};
}

/// Rows near the cuts, which other ranks have after the move, or had before it.
spmv::Redistribution<double> make_move(const comm_thread::Crew& crew, const RowPartition& given,
                                       const RowPartition& moved) {
  using Piece = spmv::Redistribution<double>::Piece;
  const int rank = crew.communicator().rank();
  const auto piece_of = [&](const comm_thread::Share& rows, const RowPartition& partition) {
    return Piece{static_cast<std::size_t>(rows.begin - partition.begin(rank)),
                 static_cast<std::size_t>(rows.end - rows.begin)};
  };
  comm_thread::Lists<Piece> leaving;
  comm_thread::Lists<Piece> arriving;
  for (int other = 0; other < given.rank_count(); ++other) {
    if (other == rank) continue;
    const auto leave = common(given, rank, moved, other);
    const auto arrive = common(given, other, moved, rank);
    if (leave.begin < leave.end) leaving[other].push_back(piece_of(leave, given));
    if (arrive.begin < arrive.end) arriving[other].push_back(piece_of(arrive, moved));
  }
  std::vector<spmv::Redistribution<double>::Line> kept;
  if (const auto stay = common(given, rank, moved, rank); stay.begin < stay.end)
    kept.push_back({piece_of(stay, given).begin, piece_of(stay, moved).begin,
                    static_cast<std::size_t>(stay.end - stay.begin)});
  return {crew, std::move(kept), leaving, arriving, "moved rows"};
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

perfmodel::HugePageBuffer<double> make_vector(const spmv::LinearOperator& op) {
  perfmodel::HugePageBuffer<double> vector(op.element_count());
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
      std::fill_n(vector.data() + begin, count, 0.0);
    });
  });
  return vector;
}

void SameRows::collective_to_operator(std::span<const double> given, std::span<double> values) {
  copy_by_threads(team_, given, values);
}

void SameRows::collective_from_operator(std::span<const double> values, std::span<double> given) {
  copy_by_threads(team_, values.first(row_count_), given);
}

MovedRows::MovedRows(const comm_thread::Crew& crew, const RowPartition& given,
                     const RowPartition& moved)
    : first_row_(given.begin(crew.communicator().rank())),
      given_count_(static_cast<std::size_t>(given.size(crew.communicator().rank()))),
      move_(make_move(crew, given, moved)) {
  crew.communicator().barrier();  // both ends of every pair exist
}

void MovedRows::collective_to_operator(std::span<const double> given, std::span<double> values) {
  move_.collective_there(alone_, given.data(), 1, values.data());
}

void MovedRows::collective_from_operator(std::span<const double> values, std::span<double> given) {
  move_.collective_back(alone_, values.data(), 1, given.data());
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
