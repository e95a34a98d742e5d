#pragma once

#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_partition.h"

namespace weft::spmv {

/// The rows (y, z) of `box` that are share number `index` of `count`, as boxes: part of a plane,
/// whole planes, part of a plane.
std::vector<GridBox> share_of_rows(const GridBox& box, int index, int count);

/// The points of `whole` that are not in `inner`, as boxes that do not overlap.
std::vector<GridBox> shell(GridBox whole, const GridBox& inner);

/// Ranges of the halo exchange, in doubles: the boxes of one neighbour after those of the other.
std::vector<comm_thread::HaloNeighbour> halo_of(std::span<const GridNeighbour> neighbours);

}  // namespace weft::spmv
