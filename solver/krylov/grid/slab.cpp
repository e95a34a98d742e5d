#include "solver/krylov/grid/slab.h"

#include <algorithm>
#include <utility>

#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

std::vector<GridSlab> cut_into_slabs(const spmv::GridBox& own, const spmv::GridBox& inner,
                                     int thread_count) {
  std::vector<GridSlab> slabs;
  for (int thread = 0; thread < thread_count; ++thread) {
    const auto share = comm_thread::share_of(own.size(2), thread, thread_count);
    GridSlab slab{.own = own, .middle = {}, .edges = {}};
    slab.own.begin[2] = own.begin[2] + share.begin;
    slab.own.end[2] = own.begin[2] + share.end;
    slab.middle = slab.own;
    if (slab.own.begin[2] > own.begin[2]) ++slab.middle.begin[2];
    if (slab.own.end[2] < own.end[2]) --slab.middle.end[2];
    slab.middle = intersection(slab.middle, inner);
    for (std::size_t d = 0; d < 3; ++d)
      slab.middle.end[d] = std::max(slab.middle.end[d], slab.middle.begin[d]);
    if (!slab.own.is_empty()) slab.edges = spmv::shell(slab.own, slab.middle);
    slabs.push_back(std::move(slab));
  }
  return slabs;
}

}  // namespace weft::solver
