#pragma once

#include <cstddef>
#include <span>

#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::spmv {

/// Several Jacobi sweeps in one pass through memory: diamonds in (y, time), and inside each a
/// wavefront along z.
///
///     time  \  /\  /\  /      A diamond grows by a row each sweep for `height` sweeps and shrinks
///       ▲    \/  \/  \/       again; a row of diamonds takes from the row below only, so that its
///       │    /\  /\  /\       diamonds are shared among the threads in any order. Inside a diamond
///       │   /  \/  \/  \      plane z of sweep t+1 is made as soon as plane z+1 of sweep t is
///       there. └────────────────► y
///
/// Two arrays take turns, as in single sweeps, and the values are the same to the last bit. A point
/// is loaded and stored once in `height` sweeps: 32/height bytes a sweep instead of 24.
/// Source: Malas, Hager et al. 2015 (multicore wavefront diamond blocking).
class TimeBlocking {
 public:
  /// The largest height whose diamonds fit into half of `cache_bytes`, that of a core, and of which
  /// there are enough for the threads; 1 means that single sweeps do as well.
  /// 400³, two threads of a Xeon with 1 MiB each, against the compiler's loop: height 2 1.6, 4 2.4,
  /// 6 2.5, 8 2.2-2.4, 12 2.1-2.2, 16 2.0-2.2; 200³: 4 2.1, 6 2.5, 8 2.6, 12 2.4.
  static int choose_height(const GridLayout& layout, std::size_t cache_bytes, int thread_count);

  TimeBlocking(const GridLayout& layout, int height) : layout_(layout), height_(height) {}

  int height() const { return height_; }

  /// Makes `boxes.size()` sweeps; sweep t on boxes[t], which lies in boxes[t − 1]. The initial
  /// values are in arrays[0], the final ones in arrays[boxes.size() % 2].
  /// Thread: every one of the team; uses its barrier, also at the end.
  void sweep(const comm_thread::TeamThread& thread, std::span<double* const, 2> arrays,
             std::span<const GridBox> boxes) const;

 private:
  struct Tile;
  void sweep_tile(const Tile& tile, std::span<double* const, 2> arrays,
                  std::span<const GridBox> boxes) const;

  GridLayout layout_;
  int height_;
};

}  // namespace weft::spmv
