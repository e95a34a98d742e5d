#include "solver/multigrid/grids/box_exchange.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

/// Calls row(y, z) for the rows of a box.
template <class Visit>
void for_each_row(const GridBox& box, const Visit& row) {
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) row(y, z);
}

/// The box of a rank and `depth` points around it, also where the box is empty between two others.
GridBox grown_box(const LevelCuts& cuts, int rank, int depth, const GridBox& grid) {
  return cuts.has_place(rank) ? spmv::grown(cuts.box(rank), depth, grid) : GridBox{};
}

/// What the others need of `own` points, by rank. Only ranks near by are looked at:
/// those whose boxes in `cuts` are at most as far from `own` as their halos are deep.
std::map<int, GridBox> needed_by_others(const LevelCuts& cuts, int depth, const GridBox& own,
                                        const GridBox& grid) {
  std::map<int, GridBox> needed;
  if (own.is_empty()) return needed;
  GridBox near = own;
  for (std::size_t d = 0; d < 3; ++d) {
    near.begin[d] -= depth;
    near.end[d] += depth;
  }
  cuts.for_each_touching(near, [&](int rank) {
    const GridBox box = intersection(grown_box(cuts, rank, depth, grid), own);
    if (!box.is_empty()) needed[rank] = box;
  });
  return needed;
}

template <class Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values, std::size_t begin,
                                    std::size_t count) {
  return std::as_bytes(std::span(values).subspan(begin, count));
}

}  // namespace

template <class Value>
BoxExchange<Value>::BoxExchange(const comm_thread::Communicator& communicator, const GridBox& grid,
                                const Side& from, const Side& to, int thread_count)
    : BoxExchange(communicator, grid, from, to.cuts, to.depth,
                  std::array{Target{grown_box(to.cuts, communicator.rank(), to.depth, grid),
                                    to.layout, to.values}},
                  thread_count) {}

template <class Value>
BoxExchange<Value>::BoxExchange(const comm_thread::Communicator& communicator, const GridBox& grid,
                                const Side& from, const LevelCuts& to_cuts, int depth,
                                std::span<const Target> targets, int thread_count)
    : thread_count_(thread_count), from_(from.values) {
  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  const int me = communicator.rank();
  std::map<int, Range> sends;
  std::map<int, Range> receives;
  std::size_t size = 0;
  for (const auto& needed : needed_by_others(to_cuts, depth, from.cuts.box(me), grid)) {
    const int rank = needed.first;
    const GridBox& box = needed.second;
    if (rank == me) continue;
    sends[rank] = {size, static_cast<std::size_t>(box.point_count())};
    for_each_row(box, [&](GlobalIndex y, GlobalIndex z) {
      const auto count = static_cast<std::size_t>(box.size(0));
      sent_rows_.push_back({from.layout.index(box.begin[0], y, z), size, count});
      size += count;
    });
  }
  sent_.resize(size);
  message_count_ = static_cast<int>(sends.size());
  size = 0;
  const GridBox needed = grown_box(to_cuts, me, depth, grid);
  const auto add_rows = [&](const GridBox& box, bool is_own, const auto& place_of) {
    for (const Target& target : targets) {
      if (is_own && target.values == from.values) continue;
      const GridBox part = intersection(box, target.points);
      for_each_row(part, [&](GlobalIndex y, GlobalIndex z) {
        if (part.size(0) > 0)
          (is_own ? own_rows_ : received_rows_)
              .push_back({target.values + target.layout.index(part.begin[0], y, z),
                          place_of(part.begin[0], y, z), static_cast<std::size_t>(part.size(0))});
      });
    }
  };
  from.cuts.for_each_owner(needed, [&](int rank, const GridBox& box) {
    if (rank == me)
      return add_rows(box, true, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
        return from.layout.index(x, y, z);
      });
    const auto count = static_cast<std::size_t>(box.point_count());
    receives[rank] = {size, count};
    add_rows(box, false, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      return size + static_cast<std::size_t>(
                        x - box.begin[0] +
                        box.size(0) * (y - box.begin[1] + box.size(1) * (z - box.begin[2])));
    });
    size += count;
  });
  received_.resize(size);

  std::map<int, comm_thread::ExchangeNeighbour> neighbours;
  for (const auto& [rank, range] : sends)
    neighbours[rank].send = bytes_of(sent_, range.begin, range.count);
  for (const auto& [rank, range] : receives)
    neighbours[rank].receive =
        std::as_writable_bytes(std::span(received_).subspan(range.begin, range.count));
  std::vector<comm_thread::ExchangeNeighbour> list;
  for (auto& [rank, neighbour] : neighbours) {
    neighbour.rank = rank;
    list.push_back(neighbour);
  }
  exchange_.emplace(communicator, "multigrid halo", list, communicator.new_tag());
}

template <class Value>
void BoxExchange<Value>::pack(int thread) {
  const auto [begin, end] = comm_thread::share_of(std::ssize(sent_rows_), thread, thread_count_);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const SentRow& row = sent_rows_[i];
    std::copy_n(from_ + row.element, row.count, sent_.data() + row.place);
  }
}

template <class Value>
void BoxExchange<Value>::unpack(const comm_thread::TeamThread& thread) {
  const auto [begin, end] =
      comm_thread::share_of(std::ssize(received_rows_), thread.index, thread.count);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const Row& row = received_rows_[i];
    std::copy_n(received_.data() + row.place, row.count, row.to);
  }
  thread.barrier();
}

template <class Value>
void BoxExchange<Value>::copy_own(const comm_thread::TeamThread& thread) {
  if (own_rows_.empty()) return;
  const auto [begin, end] =
      comm_thread::share_of(std::ssize(own_rows_), thread.index, thread.count);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const Row& row = own_rows_[i];
    std::copy_n(from_ + row.place, row.count, row.to);
  }
  thread.barrier();
}

template class BoxExchange<float>;
template class BoxExchange<double>;

}  // namespace weft::solver
