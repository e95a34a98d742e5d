#include "solver/multigrid/sweepers/coarse_parts.h"

#include <algorithm>
#include <array>

#include "solver/multigrid/passes/tiles.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// The place of (begin of x, y, z) among the points of `box`.
std::size_t row_in(const GridBox& box, GlobalIndex y, GlobalIndex z) {
  return static_cast<std::size_t>(box.size(0) *
                                  (y - box.begin[1] + box.size(1) * (z - box.begin[2])));
}

/// Elements before and after a row.
constexpr std::ptrdiff_t margin = 4;

/// Weights of the fine points 2j to 2j + 2 for coarse point j, or of point j itself; those of
/// points outside of [begin, end) are left out.
struct Sources {
  Sources(const GridLevel& fine, std::size_t d, GlobalIndex coarse, GlobalIndex begin,
          GlobalIndex end) {
    const auto add = [&](GlobalIndex point, double weight) {
      if (point < begin || point >= end) return;
      points[count] = point;
      weights[count++] = weight;
    };
    if (!fine.is_coarsened[d]) {
      add(coarse, 1);
      return;
    }
    const std::array<double, 3> all = fine.directions[d].restriction(coarse);
    for (std::size_t i = 0; i < 3; ++i) add(2 * coarse + static_cast<GlobalIndex>(i), all[i]);
  }
  std::array<GlobalIndex, 3> points{};
  std::array<double, 3> weights{};
  std::size_t count = 0;
};

}  // namespace

CoarseParts::CoarseParts(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition,
                         int rank, std::span<const int> neighbours, int halo_depth, int steps,
                         std::size_t gathered, const comm_thread::ComputeTeam& team)
    : levels_(levels),
      boxes_(levels, partition, rank, halo_depth, steps, gathered),
      ends_(neighbours.size()),
      shares_(gathered + 1),
      solutions_(gathered + 1),
      rows_(static_cast<std::size_t>(team.thread_count())) {
  GridBox longest;  // rows of any grid
  std::size_t row_size = 0;
  for (std::size_t i = 1; i <= gathered; ++i) {
    shares_[i].resize(static_cast<std::size_t>(boxes_.shares[i].point_count()));
    solutions_[i] = GridArray<float>(boxes_.corrected[i], 2);
    row_size = std::max(row_size, static_cast<std::size_t>(boxes_.shares[i].size(0)));
  }
  for (std::size_t i = 1; i < gathered; ++i) {
    const GridBox& points = boxes_.corrected[i];
    longest = hull(longest, boxes_.needed[i]);
    row_size = std::max(row_size, static_cast<std::size_t>(boxes_.needed[i].size(0)));
    parts_.push_back(
        {.up = UpPass<float>(levels[i], Smoother::one_side(steps, levels[i].largest_eigenvalue())),
         .f = GridArray<float>(points, steps),
         // Nothing is missing: all tiles are interior.
         .tiles = cut_into_tiles(points, points, points, points, steps + 1, team.thread_count())
                      .interior});
  }
  nothing_ = GridArray<float>::zeros(longest, 2);
  for (std::vector<double>& row : rows_) row.resize(row_size + 2 * margin);
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const CoarseBoxes other(levels, partition, neighbours[n], halo_depth, steps, gathered);
    End& end = ends_[n];
    const auto add = [](std::vector<Piece>& pieces, std::size_t grid, const GridBox& points,
                        std::size_t& count) {
      if (points.is_empty()) return;
      pieces.push_back({grid, points, count});
      count += static_cast<std::size_t>(points.point_count());
    };
    for (std::size_t i = 1; i < gathered; ++i) {
      add(end.sent, i, intersection(boxes_.shares[i], other.needed[i]), end.sent_count);
      add(end.received, i, intersection(other.shares[i], boxes_.needed[i]), end.received_count);
    }
  }
}

void CoarseParts::restrict_shares(const TeamThread& thread) {
  for (std::size_t i = 1; i + 1 < shares_.size(); ++i) {
    restrict_share(thread, i);
    thread.barrier();
  }
}

/// The share of grid `grid` + 1 from that of `grid`, which is 0 outside of its box.
void CoarseParts::restrict_share(const TeamThread& thread, std::size_t grid) {
  const GridLevel& fine = levels_[grid];
  const GridBox& from = boxes_.shares[grid];
  const GridBox& to = boxes_.shares[grid + 1];
  const double scale = 1 / levels_[grid + 1].scale;
  const std::array<double, 3> in_x = fine.directions[0].restriction(0);  // but for the last point
  double* const row = rows_[static_cast<std::size_t>(thread.index)].data() + margin - from.begin[0];
  // Zeros beside the row, which the first and the last coarse point may take.
  std::fill(row + from.begin[0] - margin, row + from.begin[0], 0.0);
  std::fill(row + from.end[0], row + from.end[0] + margin, 0.0);
  const comm_thread::Share planes = comm_thread::share_of(to.size(2), thread.index, thread.count);
  for (GlobalIndex z = to.begin[2] + planes.begin; z < to.begin[2] + planes.end; ++z) {
    const Sources in_z(fine, 2, z, from.begin[2], from.end[2]);
    for (GlobalIndex y = to.begin[1]; y < to.end[1]; ++y) {
      const Sources in_y(fine, 1, y, from.begin[1], from.end[1]);
      std::fill(row + from.begin[0], row + from.end[0], 0.0);
      for (std::size_t k = 0; k < in_z.count; ++k)
        for (std::size_t j = 0; j < in_y.count; ++j) {
          const double* const source =
              shares_[grid].data() + row_in(from, in_y.points[j], in_z.points[k]) - from.begin[0];
          const double weight = scale * in_z.weights[k] * in_y.weights[j];
#pragma omp simd
          for (GlobalIndex x = from.begin[0]; x < from.end[0]; ++x) row[x] += weight * source[x];
        }
      double* const out = shares_[grid + 1].data() + row_in(to, y, z) - to.begin[0];
      if (!fine.is_coarsened[0]) {
        std::copy(row + to.begin[0], row + to.end[0], out + to.begin[0]);
        continue;
      }
      const auto restrict_to = [&](GlobalIndex x, const std::array<double, 3>& weights) {
        out[x] =
            weights[0] * row[2 * x] + weights[1] * row[2 * x + 1] + weights[2] * row[2 * x + 2];
      };
#pragma omp simd
      for (GlobalIndex x = to.begin[0]; x < to.end[0]; ++x) restrict_to(x, in_x);
      if (to.end[0] == levels_[grid + 1].directions[0].size)
        restrict_to(to.end[0] - 1, fine.directions[0].restriction(to.end[0] - 1));
    }
  }
}

void CoarseParts::pack(const TeamThread& thread, std::size_t neighbour,
                       std::span<double> out) const {
  for (const Piece& piece : ends_[neighbour].sent) {
    const GridBox& box = boxes_.shares[piece.grid];
    const auto [begin, end] =
        comm_thread::share_of(piece.points.size(2), thread.index, thread.count);
    for (GlobalIndex z = piece.points.begin[2] + begin; z < piece.points.begin[2] + end; ++z)
      for (GlobalIndex y = piece.points.begin[1]; y < piece.points.end[1]; ++y)
        std::copy_n(
            shares_[piece.grid].data() + row_in(box, y, z) + (piece.points.begin[0] - box.begin[0]),
            piece.points.size(0), out.data() + piece.place + row_in(piece.points, y, z));
  }
}

/// The right-hand side of a grid: the sum of all shares that are known.
void CoarseParts::add_shares(const TeamThread& thread, std::size_t grid) {
  const GridBox& needed = boxes_.needed[grid];
  const GridBox& own = boxes_.shares[grid];
  double* const sum =
      rows_[static_cast<std::size_t>(thread.index)].data() + margin - needed.begin[0];
  const auto add = [&](const GridBox& points, const double* shares, GlobalIndex y, GlobalIndex z) {
    if (y < points.begin[1] || y >= points.end[1] || z < points.begin[2] || z >= points.end[2])
      return;
    const double* const row = shares + row_in(points, y, z) - points.begin[0];
    const GlobalIndex end = std::min(points.end[0], needed.end[0]);
#pragma omp simd
    for (GlobalIndex x = std::max(points.begin[0], needed.begin[0]); x < end; ++x) sum[x] += row[x];
  };
  GridArray<float>& f = parts_[grid - 1].f;
  const comm_thread::Share planes =
      comm_thread::share_of(needed.size(2), thread.index, thread.count);
  for (GlobalIndex z = needed.begin[2] + planes.begin; z < needed.begin[2] + planes.end; ++z)
    for (GlobalIndex y = needed.begin[1]; y < needed.end[1]; ++y) {
      std::fill(sum + needed.begin[0], sum + needed.end[0], 0.0);
      add(own, shares_[grid].data(), y, z);
      for (const End& other : ends_)
        for (const Piece& piece : other.received)
          if (piece.grid == grid && !other.shares.empty())
            add(piece.points, other.shares.data() + piece.place, y, z);
      float* const row = f.row(y, z);
#pragma omp simd
      for (GlobalIndex x = needed.begin[0]; x < needed.end[0]; ++x)
        row[x] = static_cast<float>(sum[x]);
    }
}

void CoarseParts::solve(const TeamThread& thread, PassMemory<float>& memory) {
  for (std::size_t i = 1; i <= parts_.size(); ++i) add_shares(thread, i);
  thread.barrier();
  for (std::size_t i = parts_.size(); i > 0; --i) {
    const Part& part = parts_[i - 1];
    for (const PassTile& tile : part.tiles[static_cast<std::size_t>(thread.index)])
      part.up.run(tile, part.f, nothing_, solutions_[i + 1], {.array = &solutions_[i]}, memory, {});
    thread.barrier();
  }
}

std::size_t CoarseParts::byte_count() const {
  std::size_t bytes = nothing_.byte_count();
  for (const std::vector<double>& share : shares_) bytes += share.size() * sizeof(double);
  for (const GridArray<float>& solution : solutions_) bytes += solution.byte_count();
  for (const Part& part : parts_) bytes += part.f.byte_count();
  return bytes;
}

}  // namespace weft::solver
