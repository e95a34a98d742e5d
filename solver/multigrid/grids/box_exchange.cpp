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

}  // namespace

template <class Value>
BoxExchange<Value>::BoxExchange(const comm_thread::Communicator& communicator, const GridBox& grid,
                                const Side& from, const Side& to, int thread_count)
    : BoxExchange(communicator, grid, from, to.cuts, to.depth,
                  std::array{Target{grown_box(to.cuts, communicator.rank(), to.depth, grid),
                                    to.layout, to.values}},
                  thread_count) {}

/// `boxes`: what other ranks need.
template <class Value>
void BoxExchange<Value>::plan_sent(const std::map<int, GridBox>& boxes,
                                   const spmv::GridLayout& layout,
                                   std::map<int, comm_thread::HaloNeighbour>& neighbours) {
  std::size_t size = 0;
  for (const auto& [rank, box] : boxes) {
    neighbours[rank].send_begin = static_cast<std::int64_t>(size);
    neighbours[rank].send_count = box.point_count();
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
        const auto count = static_cast<std::size_t>(box.size(0));
        sent_rows_.push_back({layout.index(box.begin[0], y, z), size, count});
        size += count;
      }
  }
}

template <class Value>
BoxExchange<Value>::BoxExchange(const comm_thread::Communicator& communicator, const GridBox& grid,
                                const Side& from, const LevelCuts& to_cuts, int depth,
                                std::span<const Target> targets, int thread_count)
    : thread_count_(thread_count), from_(from.values) {
  const int me = communicator.rank();
  std::map<int, comm_thread::HaloNeighbour> neighbours;
  std::map<int, GridBox> sent = needed_by_others(to_cuts, depth, from.cuts.box(me), grid);
  sent.erase(me);
  plan_sent(sent, from.layout, neighbours);
  std::size_t size = 0;
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
    neighbours[rank].receive_begin = static_cast<std::int64_t>(size);
    neighbours[rank].receive_count = box.point_count();
    add_rows(box, false, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      return size + static_cast<std::size_t>(
                        x - box.begin[0] +
                        box.size(0) * (y - box.begin[1] + box.size(1) * (z - box.begin[2])));
    });
    size += static_cast<std::size_t>(box.point_count());
  });
  exchange_.emplace(communicator, comm_thread::in_order(neighbours), communicator.new_tag(),
                    "multigrid halo");
}

template <class Value>
void BoxExchange<Value>::pack(int thread) {
  Value* const sent = exchange_->send_buffer().data();
  comm_thread::for_each_of_share(sent_rows_, thread, thread_count_, [&](const SentRow& row) {
    std::copy_n(from_ + row.element, row.count, sent + row.place);
  });
}

template <class Value>
void BoxExchange<Value>::unpack(const comm_thread::TeamThread& thread) {
  const Value* const received = exchange_->received().data();
  comm_thread::for_each_of_share(received_rows_, thread.index, thread.count, [&](const Row& row) {
    std::copy_n(received + row.place, row.count, row.to);
  });
  thread.barrier();
}

template <class Value>
void BoxExchange<Value>::copy_own(const comm_thread::TeamThread& thread) {
  if (own_rows_.empty()) return;
  comm_thread::for_each_of_share(own_rows_, thread.index, thread.count, [&](const Row& row) {
    std::copy_n(from_ + row.place, row.count, row.to);
  });
  thread.barrier();
}

template class BoxExchange<float>;
template class BoxExchange<double>;

}  // namespace weft::solver
