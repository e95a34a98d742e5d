#include "solver/tiles/inside.h"

#include <algorithm>

namespace weft::solver {

TileInside::TileInside(const SchwarzProblem& problem, const TileLayout& layout,
                       std::size_t tile_count)
    : overlap_(problem.overlap), layout_(layout), slots_(tile_count) {
  const auto side = static_cast<std::size_t>(problem.points_per_side + 2 * overlap_);
  const std::size_t count = std::min(side, 4 * static_cast<std::size_t>(overlap_ + 1)) * side;
  stride_ = (count + 7) / 8 * 8;
  values_ = perfmodel::HugePageBuffer<double>(2 * tile_count * stride_);
}

void TileInside::set_tile(std::size_t slot, int tile, const TileBox& box) {
  slots_[slot] = {
      .tile = tile, .box = box, .area = box.inside(box.edges(overlap_), layout_.points_per_side())};
}

/// Calls work(place in the box, place among the points of the frame, count) for the rows of it.
template <class Work>
void TileInside::for_each_run(const TileBox& box, const Work& work) const {
  std::size_t begin = 0;
  const auto run = [&](int column, int row, int count) {
    work(box.place(box.area.x_begin + column, box.area.y_begin + row), begin, count);
    begin += static_cast<std::size_t>(count);
  };
  box.frame(overlap_).for_each_run(box.area.width(), box.area.height(), run, [](int, int, int) {});
}

void TileInside::renew(std::size_t slot, std::uint64_t sweep, std::size_t array) {
  Slot& it = slots_[slot];
  settle(slot, sweep);
  it.last = Solve::complete;
  it.last_sweep = sweep;
  it.last_array = array;
}

void TileInside::defer(std::size_t slot, std::uint64_t sweep, double factor,
                       std::span<const double> r) {
  Slot& it = slots_[slot];
  settle(slot, sweep);
  it.last = Solve::deferred;
  it.last_sweep = sweep;
  double* const last = last_of(slot);
  for_each_run(it.box, [&](std::size_t place, std::size_t begin, int count) {
    const double* const from = r.data() + place;
    double* const to = last + begin;
    for (int i = 0; i < count; ++i) to[i] = factor * from[i];
  });
}

void TileInside::add(std::size_t slot, const LinearCoarseSpace& space,
                     const LinearCoarseSpace::Corners& c) {
  Slot& it = slots_[slot];
  it.space = &space;
  for (std::size_t i = 0; i < c.size(); ++i) it.coarse[i] += c[i];
}

void TileInside::settle(std::size_t slot, std::uint64_t sweep) {
  Slot& it = slots_[slot];
  const Solve last = it.last_sweep < sweep ? it.last : Solve::none;
  it.last = Solve::none;
  if (last == Solve::complete) it.array = it.last_array;
  if (last != Solve::deferred) return;
  const double* const from = last_of(slot);
  double* const sum = sum_of(slot);
  if (it.has_sum)
    for (std::size_t i = 0; i < stride_; ++i) sum[i] += from[i];
  else
    std::copy_n(from, stride_, sum);
  it.has_sum = true;
}

bool TileInside::take_sum(std::size_t slot, std::span<double> r) {
  Slot& it = slots_[slot];
  if (!it.has_sum) return false;
  const double* const sum = sum_of(slot);
  for_each_run(it.box, [&](std::size_t place, std::size_t begin, int count) {
    std::copy_n(sum + begin, count, r.data() + place);
  });
  it.has_sum = false;
  return true;
}

void TileInside::add_solution(std::size_t slot, std::span<const double> solution,
                              const std::array<double*, 2>& arrays) {
  const Slot& it = slots_[slot];
  for (int y = it.area.y_begin; y < it.area.y_end; ++y) {
    const double* const d = solution.data() + it.box.place(it.area.x_begin, y);
    double* const x = arrays[it.array] + layout_.index(it.area.x_begin, y);
    for (int i = 0; i < it.area.width(); ++i) x[i] += d[i];
  }
}

void TileInside::add_coarse(std::size_t slot, const std::array<double*, 2>& arrays) {
  Slot& it = slots_[slot];
  if (!it.space) return;
  it.space->add(it.tile, it.area, layout_, it.coarse, arrays[it.array]);
  it.space = nullptr;
  it.coarse = {};
}

void TileInside::move(std::size_t slot, const std::array<double*, 2>& arrays, std::size_t to) {
  Slot& it = slots_[slot];
  if (it.array == to) return;
  for (int y = it.area.y_begin; y < it.area.y_end; ++y) {
    const std::size_t row = layout_.index(it.area.x_begin, y);
    std::copy_n(arrays[it.array] + row, it.area.width(), arrays[to] + row);
  }
  it.array = to;
}

}  // namespace weft::solver
