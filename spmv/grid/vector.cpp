#include "spmv/grid/vector.h"

#include <algorithm>

namespace weft::spmv {

GridVector::GridVector(const comm_thread::Communicator& communicator, const GridLayout& layout,
                       const GridHalo& halo, std::span<const std::vector<GridBox>> shares, int tag)
    : layout_(layout),
      values_(layout.element_count()),
      exchange_(communicator, halo.ranges, tag),
      sent_rows_(shares.size()) {
  const auto append = [](std::vector<Row>& to, const std::vector<Row>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (std::size_t i = 0; i < halo.neighbours.size(); ++i) {
    const GridNeighbour& neighbour = halo.neighbours[i];
    for (std::size_t thread = 0; thread < shares.size(); ++thread)
      for (const GridBox& share : shares[thread])
        append(sent_rows_[thread], rows(neighbour.sent, halo.ranges[i].send_begin, share));
    append(received_rows_,
           rows(neighbour.received, halo.ranges[i].receive_begin, neighbour.received));
  }
}

/// Those of `box`, whose first value is at `begin` of the buffer, that are in `part` too, which has
/// whole rows.
std::vector<GridVector::Row> GridVector::rows(const GridBox& box, std::int64_t begin,
                                              const GridBox& part) const {
  std::vector<Row> found;
  const GridBox both = intersection(box, part);
  for (GlobalIndex z = both.begin[2]; z < both.end[2]; ++z)
    for (GlobalIndex y = both.begin[1]; y < both.end[1]; ++y) {
      const GlobalIndex number = (z - box.begin[2]) * box.size(1) + (y - box.begin[1]);
      found.push_back({layout_.index(box.begin[0], y, z),
                       static_cast<std::size_t>(begin + number * box.size(0)),
                       static_cast<std::size_t>(box.size(0))});
    }
  return found;
}

void GridVector::pack(int thread) {
  double* const buffer = exchange_.send_buffer().data();
  for (const Row& row : sent_rows_[static_cast<std::size_t>(thread)])
    std::copy_n(values_.data() + row.first, row.count, buffer + row.place);
}

void GridVector::unpack(const comm_thread::TeamThread& thread) {
  const double* const received = exchange_.received().data();
  comm_thread::for_each_of_share(received_rows_, thread.index, thread.count, [&](const Row& row) {
    std::copy_n(received + row.place, row.count, values_.data() + row.first);
  });
  thread.barrier();
}

}  // namespace weft::spmv
