#include "solver/multigrid/sweepers/coarse_boxes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace weft::solver {

using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// The coarse points to which values at `box` are restricted.
GridBox restricted(const GridLevel& fine, const GridLevel& coarse, GridBox box) {
  for (std::size_t d = 0; d < 3; ++d)
    if (fine.is_coarsened[d]) {
      // Coarse point j has the fine ones from 2j to 2j + 2.
      box.begin[d] = std::max<GlobalIndex>(box.begin[d] - 1, 0) / 2;
      box.end[d] = (box.end[d] - 1) / 2 + 1;
    }
  return intersection(box, coarse.points());
}

/// The coarse points from which values at `box` are interpolated.
GridBox interpolated_from(const GridLevel& fine, const GridLevel& coarse, GridBox box) {
  for (std::size_t d = 0; d < 3; ++d)
    if (fine.is_coarsened[d]) {
      box.begin[d] = box.begin[d] / 2 - 1;
      box.end[d] = box.end[d] / 2 + 1;
    }
  return intersection(box, coarse.points());
}

}  // namespace

CoarseBoxes::CoarseBoxes(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition,
                         int rank, int halo_depth, int steps, std::size_t gathered)
    : shares(gathered + 1), corrected(gathered + 1), needed(gathered) {
  const GridBox own = partition.box(rank);
  shares[0] = grown(own, 1, levels[0].points());
  GridBox used = grown(own, halo_depth, levels[0].points());
  for (std::size_t i = 1; i <= gathered; ++i) {
    shares[i] = restricted(levels[i - 1], levels[i], shares[i - 1]);
    corrected[i] = interpolated_from(levels[i - 1], levels[i], used);
    used = grown(corrected[i], steps, levels[i].points());
    if (i < gathered) needed[i] = used;
  }
  shares[0] = {};
}

std::size_t first_gathered(const std::vector<GridLevel>& levels,
                           const spmv::GridPartition& partition, int halo_depth, int steps) {
  const std::array<int, 3>& dims = partition.dims();
  if (std::ranges::all_of(dims, [](int boxes) { return boxes == 1; })) return 1;
  std::array<GlobalIndex, 3> size{};  // at least, of a rank's box
  std::array<GlobalIndex, 3> reach{};  // of what a rank needs, beside its box
  for (std::size_t d = 0; d < 3; ++d) {
    size[d] = levels[0].directions[d].size / dims[d];
    reach[d] = halo_depth;
  }
  for (std::size_t i = 1; i + 1 < levels.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      if (levels[i - 1].is_coarsened[d]) {
        size[d] /= 2;
        reach[d] = (reach[d] + 1) / 2 + 1;
      }
      reach[d] += steps;
      // The shares of the ranks behind the next one end there.
      if (dims[d] > 1 && size[d] < reach[d] + 2) return i;
    }
  return levels.size() - 1;
}

}  // namespace weft::solver
