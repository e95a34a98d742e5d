#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/tiles/linear_coarse_space.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_box.h"
#include "solver/tiles/tile_layout.h"

namespace weft::solver {

/// The own points of a rank's tiles that nobody else needs, and what their values have missed:
///
///     own points, overlap 1     e e e e e e     e: its edges, current after every sweep, in the
///                               e e e e e e        array of the tile's current values
///                               e e i i e e     i: inside, in one of both arrays, and behind
///                               e e i i e e
///                               e e e e e e     Solutions are linear in what they are solved for:
///                               e e e e e e     one solve for the sum gives what i has missed.
///
/// The solution is 0 outside of the tile's frame. A solve counts from the end of its sweep
/// on; one in a sweep that never ended is forgotten. Memory: 2 values for each point of a frame.
/// Thread: one at a time for each tile.
class TileInside {
 public:
  TileInside(const SchwarzProblem& problem, const TileLayout& layout, std::size_t tile_count);

  /// Takes the values in `slot`. Once for each slot.
  void set_tile(std::size_t slot, int tile, const TileBox& box);
  const TileArea& area(std::size_t slot) const { return slots_[slot].area; }

  /// A solve in sweep number `sweep`, and the tile's first or later one in it, gave all points in
  /// `array`, or on the edges only the solution for factor·r. Shape: r: [box].
  void renew(std::size_t slot, std::uint64_t sweep, std::size_t array);
  void defer(std::size_t slot, std::uint64_t sweep, double factor, std::span<const double> r);
  /// P·c, at once. `space` outlives the next `complete`.
  void add(std::size_t slot, const LinearCoarseSpace& space, const LinearCoarseSpace::Corners& c);

  /// Brings the values up to date in arrays[to], sweeps before number `sweep` having ended:
  /// solve(r) gives the solution for r, which is 0 outside of the frame. Shape: arrays: the values
  /// of the tile, as the layout says; r: [box], room for it.
  template <class Solve>
  void complete(std::size_t slot, std::uint64_t sweep, const std::array<double*, 2>& arrays,
                std::size_t to, std::span<double> r, const Solve& solve) {
    settle(slot, sweep);
    if (take_sum(slot, r)) add_solution(slot, solve(r), arrays);
    add_coarse(slot, arrays);
    move(slot, arrays, to);
  }

 private:
  enum class Solve : std::uint8_t { none, deferred, complete };
  struct alignas(64) Slot {
    int tile = 0;
    TileBox box;
    TileArea area;
    std::size_t array = 0;  // where the points are, but for the last solve
    Solve last = Solve::none;
    std::uint64_t last_sweep = 0;
    std::size_t last_array = 0;
    bool has_sum = false;
    const LinearCoarseSpace* space = nullptr;
    LinearCoarseSpace::Corners coarse{};
  };

  void settle(std::size_t slot, std::uint64_t sweep);
  bool take_sum(std::size_t slot, std::span<double> r);
  void add_solution(std::size_t slot, std::span<const double> solution,
                    const std::array<double*, 2>& arrays);
  void add_coarse(std::size_t slot, const std::array<double*, 2>& arrays);
  void move(std::size_t slot, const std::array<double*, 2>& arrays, std::size_t to);
  template <class Work>
  void for_each_run(const TileBox& box, const Work& work) const;
  double* last_of(std::size_t slot) { return values_.data() + 2 * slot * stride_; }
  double* sum_of(std::size_t slot) { return last_of(slot) + stride_; }

  int overlap_;
  TileLayout layout_;
  std::vector<Slot> slots_;
  std::size_t stride_;
  perfmodel::HugePageBuffer<double> values_;
};

}  // namespace weft::solver
