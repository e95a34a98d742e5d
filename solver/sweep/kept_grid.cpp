#include "solver/sweep/kept_grid.h"

#include <cstddef>
#include <vector>

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

PackedRows pack_grid(const spmv::GridLayout& layout, const spmv::GridBox& domain,
                     int thread_count) {
  return {pieces_of(layout, domain, thread_count), domain.point_count()};
}

std::vector<std::vector<PackedRows::Piece>> pieces_of(const spmv::GridLayout& layout,
                                                      const spmv::GridBox& domain,
                                                      int thread_count) {
  const spmv::GridBox& own = layout.own();
  const spmv::GlobalIndex lines = own.size(1);
  std::vector<std::vector<PackedRows::Piece>> pieces(static_cast<std::size_t>(thread_count));
  for (int thread = 0; thread < thread_count; ++thread) {
    const auto [begin, end] = comm_thread::share_of(lines * own.size(2), thread, thread_count);
    for (spmv::GlobalIndex line = begin; line < end; ++line) {
      const spmv::GlobalIndex x = own.begin[0];
      const spmv::GlobalIndex y = own.begin[1] + line % lines;
      const spmv::GlobalIndex z = own.begin[2] + line / lines;
      pieces[static_cast<std::size_t>(thread)].push_back(
          {layout.index(x, y, z), x + domain.size(0) * (y + domain.size(1) * z),
           static_cast<std::size_t>(own.size(0))});
    }
  }
  return pieces;
}

}  // namespace weft::solver
