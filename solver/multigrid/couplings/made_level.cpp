#include "solver/multigrid/couplings/made_level.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "perfmodel/simd.h"
#include "solver/multigrid/couplings/boundary.h"
#include "solver/multigrid/couplings/coarsening.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Planes that a thread has at least, where rows are not cut instead: it makes five more.
constexpr GlobalIndex least_planes = 8;

/// One direction after the other in which a grid is coarsened, from the points of a box.
struct Stage {
  std::size_t direction;
  GridBox fine;
  GridBox grid;  // all points of the fine grid
};

std::vector<Stage> stages_of(GridBox fine, GridBox grid, const std::array<bool, 3>& is_coarsened) {
  std::vector<Stage> stages;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!is_coarsened[d]) continue;
    stages.push_back({d, fine, grid});
    fine = coarse_points(fine, grid, d);
    grid.end[d] /= 2;
  }
  stages.push_back({3, fine, grid});  // the coarse grid
  return stages;
}

/// A part of a box, cut in one direction.
class Part {
 public:
  /// `coarse`: points of the next grid on this rank.
  Part(const LevelMaking& making, const GridBox& coarse, int index, int count)
      : making_(making), cut_(direction(making, count)) {
    const bool is_coarsened = making.is_coarsened[cut_];
    const GlobalIndex size = coarse.size(cut_);
    const int parts = static_cast<int>(std::clamp<GlobalIndex>(size, 1, count));
    if (index >= parts) return;
    is_there_ = true;
    is_first_ = index == 0;
    is_last_ = index == parts - 1;
    const auto share = comm_thread::share_of(size, index, parts);
    begin_ = coarse.begin[cut_] + share.begin;
    end_ = coarse.begin[cut_] + share.end;
    factor_ = is_coarsened ? 2 : 1;
  }

  bool is_there() const { return is_there_; }
  bool is_last() const { return is_last_; }
  std::size_t cut() const { return cut_; }

  /// Those of the points of `box` that are in this part: of a grid that is coarsened in direction
  /// `cut` already, or not yet.
  GridBox of(GridBox box, bool is_coarse) const {
    const GlobalIndex factor = is_coarse ? 1 : factor_;
    if (!is_first_) box.begin[cut_] = std::max(box.begin[cut_], factor * begin_);
    if (!is_last_) box.end[cut_] = std::min(box.end[cut_], factor * end_);
    return box;
  }

  /// Points whose couplings this part is made from.
  GridBox needed() const {
    int before = 0;  // directions that are coarsened before the cut one
    int after = 0;
    for (std::size_t d = 0; d < 3; ++d)
      if (making_.is_coarsened[d] && d != cut_) ++(d < cut_ ? before : after);
    GridBox box = of(making_.from.points, false);
    const GlobalIndex depth = before + factor_ * after;
    const GridBox& all = making_.from.points;
    box.begin[cut_] = std::max(all.begin[cut_], box.begin[cut_] - depth);
    box.end[cut_] = std::min(all.end[cut_], box.end[cut_] + depth + factor_ - 1);
    return box;
  }

 private:
  static std::size_t direction(const LevelMaking& making, int count) {
    const GridBox& points = making.from.points;
    return points.size(2) >= least_planes * count || points.size(2) >= points.size(1) ? 2 : 1;
  }

  const LevelMaking& making_;
  std::size_t cut_;
  bool is_there_ = false;
  bool is_first_ = false;
  bool is_last_ = false;
  GlobalIndex factor_ = 1;  // fine points for each coarse one
  GlobalIndex begin_ = 0;  // coarse points
  GlobalIndex end_ = 0;
};

/// The last one to take planes: keeps those of its part.
class CoarsePlanes final : public PlaneSink {
 public:
  /// `made`: points of the planes that come.
  CoarsePlanes(const GridBox& made, const Part& part, GridCouplings& couplings)
      : couplings_(couplings) {
    for (CouplingPlane& plane : planes_) plane = CouplingPlane(made);
    kept_ = part.of(couplings.points(), true);
    for (const std::size_t d : {1U, 2U})
      has_end_[d] =
          kept_.end[d] == couplings.points().end[d] && (d != part.cut() || part.is_last());
  }

  CouplingPlane& place(GlobalIndex z) override {
    return planes_[static_cast<std::size_t>(z) % planes_.size()];
  }
  void take(GlobalIndex z) override {
    const bool is_end = z == kept_.end[2];
    if (z < kept_.begin[2] || z > kept_.end[2] || (is_end && !has_end_[2])) return;
    const CouplingPlane& plane = place(z);
    const GlobalIndex begin = kept_.begin[0];
    const auto copy = [&](const double* from, GlobalIndex y, GlobalIndex count, double* to) {
      std::copy_n(from + begin, count, to + couplings_.layout().index(begin, y, z));
    };
    for (GlobalIndex y = kept_.begin[1]; y < kept_.end[1]; ++y) {
      copy(plane.before(2, y), y, kept_.size(0), couplings_.before(2));
      if (is_end) continue;
      copy(plane.before(1, y), y, kept_.size(0), couplings_.before(1));
      copy(plane.before(0, y), y, kept_.size(0) + 1, couplings_.before(0));
      if (plane.has_excess) copy(plane.excess(y), y, kept_.size(0), couplings_.excess());
    }
    if (!is_end && has_end_[1])
      copy(plane.before(1, kept_.end[1]), kept_.end[1], kept_.size(0), couplings_.before(1));
  }

 private:
  GridBox kept_;
  std::array<bool, 3> has_end_{};  // the couplings after the last points as well
  GridCouplings& couplings_;
  std::array<CouplingPlane, 2> planes_;
};

/// What the passes read of one row.
template <class Value>
[[gnu::always_inline]] inline void narrow_row(const double* from, GlobalIndex count,
                                              Value* __restrict to) {
  for (GlobalIndex x = 0; x < count; ++x)
    to[x] = from[x] < least_value ? 0 : static_cast<Value>(from[x]);
}

/// The couplings of a row of points with all neighbours, indexed by x.
struct Row {
  const double* excess;  // null: none
  std::array<const double*, 3> before;
  std::array<const double*, 3> after;

  template <bool has_excess>
  [[gnu::always_inline]] double diagonal(GlobalIndex x) const {
    double sum = before[0][x] + after[0][x];
    if constexpr (has_excess) sum = excess[x] + sum;
    return (sum + (before[1][x] + after[1][x])) + (before[2][x] + after[2][x]);
  }
};

Row row_of(const CouplingPlane& plane, const CouplingPlane& after, GlobalIndex y) {
  return {plane.has_excess ? plane.excess(y) : nullptr,
          {plane.before(0, y), plane.before(1, y), plane.before(2, y)},
          {plane.before(0, y) + 1, plane.before(1, y + 1), after.before(2, y)}};
}

template <bool has_excess, class Value>
[[gnu::always_inline]] inline void invert_diagonals(const Row& row, GlobalIndex begin,
                                                    GlobalIndex end, Value* __restrict to) {
  for (GlobalIndex x = begin; x < end; ++x) {
    const double diagonal = row.diagonal<has_excess>(x);
    to[x] = static_cast<Value>(1 / (diagonal > least_value ? diagonal : least_value));
  }
}

/// The least of `least` and the diagonals above 0, as bits less 1: their order is that of the
/// values, and 0 comes last.
template <bool has_excess>
[[gnu::always_inline]] inline std::uint64_t least_bits(const Row& row, GlobalIndex begin,
                                                       GlobalIndex end, std::uint64_t least) {
  for (GlobalIndex x = begin; x < end; ++x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(row.diagonal<has_excess>(x)) - 1;
    least = bits < least ? bits : least;
  }
  return least;
}

/// One thread's part of a level.
template <class Value>
class PartMaker {
 public:
  /// `stages`: of all points of this rank.
  PartMaker(const LevelMaking& making, const std::vector<Stage>& stages, const Part& part,
            MadeLevel<Value>& made)
      : making_(making),
        couplings_(made.couplings),
        needed_(part.needed()),
        passed_(part.of(GridCouplings::with_end(making.passed), false)),
        own_(part.of(making.own, false)) {
    const std::vector<Stage> own_stages = stages_of(needed_, making.from.grid, making.is_coarsened);
    coarse_.emplace(own_stages.back().fine, part, made.coarse);
    first_ = &*coarse_;
    for (std::size_t i = stages.size() - 1; i-- > 0;) {
      const std::size_t d = stages[i].direction;
      GridArray<Value>& array = couplings_.weights[d];
      const bool is_cut_coarse = part.cut() <= d && making.is_coarsened[part.cut()];
      const InterpolationWeights<Value> weights{
          part.of(weights_box(stages[i].fine, d), is_cut_coarse), array.row(0, 0),
          array.layout().row_stride(), array.layout().plane_stride()};
      coarseners_[d].emplace(own_stages[i].fine, own_stages[i].grid, d, weights, *first_);
      first_ = &*coarseners_[d];
    }
  }

  /// Returns the least diagonal of own points, at most 1.
  double make() {
    const CouplingView& from = making_.from;
    from.load(needed_, needed_.begin[2], first_->place(needed_.begin[2]));
    for (GlobalIndex z = needed_.begin[2]; z < needed_.end[2]; ++z) {
      CouplingPlane& plane = first_->place(z);
      CouplingPlane& after = first_->place(z + 1);
      from.load(needed_, z + 1, after);
      if (making_.has_boundary)
        give_excess_to_boundary(plane, after, needed_, z, from.grid, *making_.has_boundary);
      narrow(z, plane, &after);
      first_->take(z);
    }
    narrow(needed_.end[2], first_->place(needed_.end[2]), nullptr);
    first_->take(needed_.end[2]);
    return std::bit_cast<double>(least_ + 1);
  }

 private:
  /// What the passes read of the plane z. `after`: null where only couplings in z are needed.
  void narrow(GlobalIndex z, const CouplingPlane& plane, const CouplingPlane* after) {
    if (z < passed_.begin[2] || z >= passed_.end[2]) return;
    const GridBox& points = making_.passed;
    const GlobalIndex begin = points.begin[0];
    const GlobalIndex count = points.size(0);
    const bool is_end = z == points.end[2];
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      for (GlobalIndex y = passed_.begin[1]; y < passed_.end[1]; ++y) {
        const bool is_end_row = y == points.end[1];
        const auto narrowed = [&](std::size_t d,
                                  GlobalIndex elements) __attribute__((always_inline)) {
          narrow_row(plane.before(d, y) + begin, elements, couplings_.before[d].row(y, z) + begin);
        };
        if (!is_end_row) narrowed(2, count);
        if (!is_end) narrowed(1, count);
        if (is_end || is_end_row) continue;
        narrowed(0, count + 1);
        const Row row = row_of(plane, *after, y);
        const auto use = [&]<bool has_excess>() __attribute__((always_inline)) {
          invert_diagonals<has_excess>(row, begin, points.end[0],
                                       couplings_.inverse_diagonal.row(y, z));
          if (z >= own_.begin[2] && z < own_.end[2] && y >= own_.begin[1] && y < own_.end[1])
            least_ = least_bits<has_excess>(row, own_.begin[0], own_.end[0], least_);
        };
        if (row.excess)
          use.template operator()<true>();
        else
          use.template operator()<false>();
      }
    });
  }

  const LevelMaking& making_;
  LevelCouplings<Value>& couplings_;
  GridBox needed_;
  GridBox passed_;  // with the points after the last ones
  GridBox own_;
  std::optional<CoarsePlanes> coarse_;
  std::array<std::optional<PlaneCoarsener<Value>>, 3> coarseners_;
  PlaneSink* first_ = nullptr;
  std::uint64_t least_ = std::bit_cast<std::uint64_t>(1.0) - 1;
};

/// Zeros.
template <class Value>
LevelCouplings<Value> couplings_of(const LevelMaking& making, const std::vector<Stage>& stages) {
  LevelCouplings<Value> couplings;
  for (GridArray<Value>& array : couplings.before)
    array = GridArray<Value>(GridCouplings::with_end(making.passed), 0);
  couplings.inverse_diagonal = GridArray<Value>(making.passed, 0);
  for (const Stage& stage : stages)
    if (stage.direction < 3)
      couplings.weights[stage.direction] =
          GridArray<Value>(weights_box(stage.fine, stage.direction), 1);
  return couplings;
}

}  // namespace

template <class Value>
MadeLevel<Value> make_varying_level(const comm_thread::ComputeTeam& team,
                                    const LevelMaking& making) {
  const std::vector<Stage> stages =
      stages_of(making.from.points, making.from.grid, making.is_coarsened);
  MadeLevel<Value> made{.coarse = GridCouplings(stages.back().fine),
                        .couplings = couplings_of<Value>(making, stages)};
  if (making.from.points.is_empty()) return made;
  std::vector<double> least(static_cast<std::size_t>(team.thread_count()), 1);
  team.run([&](const TeamThread& thread) {
    const Part part(making, stages.back().fine, thread.index, thread.count);
    if (part.is_there())
      least[static_cast<std::size_t>(thread.index)] =
          PartMaker<Value>(making, stages, part, made).make();
  });
  made.least_diagonal = *std::ranges::min_element(least);
  return made;
}

template MadeLevel<float> make_varying_level(const comm_thread::ComputeTeam&, const LevelMaking&);
template MadeLevel<double> make_varying_level(const comm_thread::ComputeTeam&, const LevelMaking&);

}  // namespace weft::solver
