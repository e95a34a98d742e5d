#include "spmv/grid/shares.h"

#include <algorithm>

#include "comm_thread/placement/compute_team.h"

namespace weft::spmv {

std::vector<GridBox> share_of_rows(const GridBox& box, int index, int count) {
  std::vector<GridBox> boxes;
  if (box.is_empty()) return boxes;
  const GlobalIndex rows = box.size(1);
  const auto [begin, end] = comm_thread::share_of(rows * box.size(2), index, count);
  for (GlobalIndex row = begin; row < end;) {
    GridBox part = box;
    const GlobalIndex y = row % rows;
    const GlobalIndex planes = y == 0 ? (end - row) / rows : 0;
    part.begin[2] = box.begin[2] + row / rows;
    part.end[2] = part.begin[2] + std::max<GlobalIndex>(planes, 1);
    if (planes == 0) {
      part.begin[1] = box.begin[1] + y;
      part.end[1] = box.begin[1] + std::min(rows, y + end - row);
    }
    row += part.size(1) * part.size(2);
    boxes.push_back(part);
  }
  return boxes;
}

std::vector<GridBox> shell(GridBox whole, const GridBox& inner) {
  std::vector<GridBox> boxes;
  for (const std::size_t d : {2U, 1U, 0U}) {
    GridBox below = whole;
    below.end[d] = std::min(inner.begin[d], whole.end[d]);
    GridBox above = whole;
    above.begin[d] = std::max(inner.end[d], below.end[d]);
    for (const GridBox& box : {below, above})
      if (!box.is_empty()) boxes.push_back(box);
    whole.begin[d] = below.end[d];
    whole.end[d] = above.begin[d];
  }
  return boxes;
}

std::vector<comm_thread::HaloNeighbour> halo_of(std::span<const GridNeighbour> neighbours) {
  std::vector<comm_thread::HaloNeighbour> result;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (const GridNeighbour& neighbour : neighbours) {
    const std::int64_t send_count = neighbour.sent.point_count();
    const std::int64_t receive_count = neighbour.received.point_count();
    result.push_back({neighbour.rank, sent, send_count, received, receive_count});
    sent += send_count;
    received += receive_count;
  }
  return result;
}

}  // namespace weft::spmv
