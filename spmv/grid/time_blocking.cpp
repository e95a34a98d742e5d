#include "spmv/grid/time_blocking.h"

#include <algorithm>

#include "spmv/grid/average_sweep.h"

namespace weft::spmv {

/// A diamond: grows around `centre` in the band of sweeps before `middle`, shrinks in the one
/// after.
struct TimeBlocking::Tile {
  GlobalIndex centre;
  GlobalIndex height;
  std::ptrdiff_t middle;  // number of the sweep at which it is widest

  /// Rows y of sweep `t`, empty outside of the diamond.
  GlobalIndex begin(std::ptrdiff_t t) const { return centre - half_width(t); }
  GlobalIndex end(std::ptrdiff_t t) const { return centre + half_width(t); }

 private:
  GlobalIndex half_width(std::ptrdiff_t t) const {
    return t < middle ? t - (middle - height) : height - (t - middle);
  }
};

int TimeBlocking::choose_height(const GridLayout& layout, std::size_t cache_bytes,
                                int thread_count) {
  const GlobalIndex rows = layout.own().size(1);
  const std::size_t row_bytes = static_cast<std::size_t>(layout.row_stride()) * sizeof(double);
  for (const int height : {16, 12, 8, 6, 4, 3, 2}) {
    // The wavefront keeps a plane of the diamond per sweep, 2·height² rows, of both arrays.
    const std::size_t bytes = 4 * static_cast<std::size_t>(height * height) * row_bytes;
    if (bytes <= cache_bytes / 2 && GlobalIndex{2} * height * thread_count <= rows) return height;
  }
  return 1;
}

void TimeBlocking::sweep_tile(const Tile& tile, std::span<double* const, 2> arrays,
                              std::span<const GridBox> boxes) const {
  const auto sweep_count = static_cast<std::ptrdiff_t>(boxes.size());
  // The first sweep of a growing diamond has no rows yet.
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, tile.middle - height_ + 1);
  const std::ptrdiff_t last = std::min<std::ptrdiff_t>(sweep_count, tile.middle + height_);
  if (first >= last) return;
  const GridBox& widest = boxes[static_cast<std::size_t>(first)];
  for (GlobalIndex front = widest.begin[2]; front < widest.end[2] + (last - 1 - first); ++front) {
    for (std::ptrdiff_t t = first; t < last; ++t) {
      GridBox rows = boxes[static_cast<std::size_t>(t)];
      const GlobalIndex z = front - (t - first);
      if (z < rows.begin[2] || z >= rows.end[2]) continue;
      rows.begin[2] = z;
      rows.end[2] = z + 1;
      rows.begin[1] = std::max(rows.begin[1], tile.begin(t));
      rows.end[1] = std::min(rows.end[1], tile.end(t));
      if (rows.begin[1] >= rows.end[1]) continue;
      sweep_average_rows(layout_, arrays[static_cast<std::size_t>(t % 2)],
                         arrays[static_cast<std::size_t>((t + 1) % 2)], rows);
    }
  }
}

void TimeBlocking::sweep(const comm_thread::TeamThread& thread, std::span<double* const, 2> arrays,
                         std::span<const GridBox> boxes) const {
  if (boxes.empty()) return;
  const auto sweep_count = static_cast<std::ptrdiff_t>(boxes.size());
  const GlobalIndex begin = boxes.front().begin[1];
  const GlobalIndex end = boxes.front().end[1];
  const GlobalIndex width = GlobalIndex{2} * height_;
  const std::ptrdiff_t band_count = (sweep_count + height_ - 1) / height_;
  for (std::ptrdiff_t band = 0; band <= band_count; ++band) {
    // Diamonds of this row, from the one that covers the first y on.
    const GlobalIndex first_centre = begin + (band % 2 == 0 ? GlobalIndex{height_} : 0);
    const GlobalIndex count = (end + height_ - first_centre + width - 1) / width;
    const comm_thread::Share mine = comm_thread::share_of(count, thread.index, thread.count);
    for (GlobalIndex tile = mine.begin; tile < mine.end; ++tile)
      sweep_tile({first_centre + tile * width, height_, band * height_}, arrays, boxes);
    thread.barrier();
  }
}

}  // namespace weft::spmv
