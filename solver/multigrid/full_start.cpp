#include "solver/multigrid/full_start.h"

#include <algorithm>
#include <array>
#include <utility>

#include "solver/levels/run_cycle.h"
#include "solver/multigrid/cycle_grids.h"
#include "solver/multigrid/passes/restriction.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// Elements beside a row of a buffer.
constexpr GlobalIndex margin = 16;

/// Calls visit(y, z) for the rows of `box` that are the share of `thread`.
template <class Visit>
void for_each_row_of(const TeamThread& thread, const GridBox& box, const Visit& visit) {
  if (box.is_empty()) return;
  for (const GridBox& share : spmv::share_of_rows(box, thread.index, thread.count))
    for (GlobalIndex z = share.begin[2]; z < share.end[2]; ++z)
      for (GlobalIndex y = share.begin[1]; y < share.end[1]; ++y) visit(y, z);
}

/// Cycles on each grid between the coarsest and the finest. One leaves errors of the size of the
/// discretisation's, which differ from grid to grid: see docs/notes/multigrid.md.
constexpr int cycles_per_grid = 2;

/// Fine points and weights from which coarse point `j` of a direction gets its right-hand side: the
/// mean of restriction and the value at the point. Restriction alone makes the coarse solution too
/// small, by as much as the coarse discretisation makes it too large.
template <class Value>
struct RestrictionTerms {
  RestrictionTerms(const GridLevel& fine, std::size_t direction, GlobalIndex j) {
    if (!fine.is_coarsened[direction]) {
      first = j;
      return;
    }
    first = 2 * j;
    const auto all = fine.directions[direction].restriction(j);
    // The last may be outside of the grid.
    count = 2 * j + 2 < fine.directions[direction].size ? 3 : 2;
    for (std::size_t k = 0; k < 3; ++k)
      weights[k] = static_cast<Value>((all[k] + (k == 1 ? 1 : 0)) / 2);
  }
  GlobalIndex first = 0;
  int count = 1;
  std::array<Value, 3> weights{1, 0, 0};
};

/// The first of the coarse points that any of the fine ones needs, and the one after the last.
template <class Terms>
std::pair<GlobalIndex, GlobalIndex> points_needed(const Terms& terms) {
  GlobalIndex begin = terms[0].first;
  GlobalIndex end = begin;
  for (const auto& term : terms) {
    begin = std::min(begin, term.first);
    end = std::max(end, term.first + term.count);
  }
  return {begin, end};
}

/// out += weight·(unit·row) at the points [begin, end).
template <class In, class Value>
void add_row_to(GlobalIndex begin, GlobalIndex end, Value weight, In unit, const In* row,
                Value* out) {
#pragma omp simd
  for (GlobalIndex x = begin; x < end; ++x) out[x] += weight * static_cast<Value>(unit * row[x]);
}

/// out = factor·t along x, from `terms` of the points [begin, end).
template <class Value, class Out>
void interpolate_row(std::span<const CubicTerms<Value>> terms, GlobalIndex begin, GlobalIndex end,
                     const Value* t, Out factor, Out* out) {
  const auto by_terms = [&](GlobalIndex i) {
    const CubicTerms<Value>& of = terms[static_cast<std::size_t>(i - begin)];
    Value sum = of.weights[0] * t[of.first];
    for (int k = 1; k < of.count; ++k)
      sum += of.weights[static_cast<std::size_t>(k)] * t[of.first + k];
    out[i] = factor * static_cast<Out>(sum);
  };
  const auto is_inner = [&](GlobalIndex i) {
    return terms[static_cast<std::size_t>(i - begin)].is_inner;
  };
  GlobalIndex i = begin;
  for (; i < end && !is_inner(i); ++i) by_terms(i);
  GlobalIndex last = end;
  while (last > i && !is_inner(last - 1)) --last;
  // Between them every second point is inner, beginning with an even one.
  const GlobalIndex pairs_end = last / 2;
#pragma omp simd
  for (GlobalIndex j = i / 2; j < pairs_end; ++j) {
    const Value sum =
        ((-Value{0.0625} * t[j - 2] + Value{0.5625} * t[j - 1]) + Value{0.5625} * t[j]) +
        -Value{0.0625} * t[j + 1];
    out[2 * j] = factor * static_cast<Out>(sum);
    out[2 * j + 1] = factor * static_cast<Out>(t[j]);
  }
  for (i = std::max(i, 2 * pairs_end); i < end; ++i) by_terms(i);
}

}  // namespace

template <class Value>
FullStart<Value>::FullStart(GridCycle<Value>& cycle)
    : cycle_(cycle), rows_(static_cast<std::size_t>(cycle.grids_.crew().team().thread_count())) {
  const CycleGrids<Value>& grids = cycle.grids_;
  const int rank = grids.crew().communicator().rank();
  const std::size_t count = grids.levels().size();
  guesses_.resize(count);
  transfers_.resize(count - 1);
  GlobalIndex longest = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const typename CycleGrids<Value>::Level& level = grids.levels()[i];
    const GridBox own = level.cuts.box(rank);
    longest = std::max(longest, own.size(0));
    for (std::size_t d = 0; d < 3; ++d)
      for (GlobalIndex at = own.begin[d]; at < own.end[d]; ++at)
        transfers_[i].terms[d].push_back(
            CubicTerms<Value>::of(level.grid.directions[d], level.grid.is_coarsened[d], at));
    if (i == 0) continue;
    Guess& guess = guesses_[i];
    const int depth = cycle.depth() + 1;
    guess.values = GridArray<Value>(own, depth);
    guess.sum = GridArray<Value>(own, 0);
    const typename BoxExchange<Value>::Side side{level.cuts, depth, guess.values.layout(),
                                                 guess.values.values()};
    guess.halo =
        std::make_unique<BoxExchange<Value>>(grids.crew().communicator(), level.grid.points(), side,
                                             side, grids.crew().team().thread_count());
  }
  for (auto& row : rows_)
    row.resize(static_cast<std::size_t>(longest + 2 * (CubicTerms<Value>::reach + margin)));
  grids.crew().communicator().barrier();  // both ends of every pair exist
}

template <class Value>
std::size_t FullStart<Value>::byte_count() const {
  std::size_t bytes = 0;
  for (const Guess& guess : guesses_)
    if (guess.halo)
      bytes += guess.values.byte_count() + guess.sum.byte_count() + guess.halo->buffer_bytes();
  return bytes;
}

template <class Value>
int FullStart<Value>::rank() const {
  return cycle_.grids_.crew().communicator().rank();
}

template <class Value>
void FullStart<Value>::collective_exchange(const TeamThread& thread,
                                           BoxExchange<Value>& halo) const {
  halo.collective_exchange(thread, cycle_.grids_.crew().comm_thread());
}

template <class Value>
template <class In, class RowOf>
void FullStart<Value>::restrict_to(const TeamThread& thread, std::size_t index, double factor,
                                   In unit, const RowOf& fine_row) {
  typename CycleGrids<Value>::Level& to = cycle_.grids_.levels()[index];
  const GridLevel& fine = cycle_.grids_.levels()[index - 1].grid;
  const GridBox own = coarse_points(fine, cycle_.grids_.levels()[index - 1].cuts.box(rank()));
  const bool is_coarsened = fine.is_coarsened[0];
  const GlobalIndex size = fine.directions[0].size;
  const GlobalIndex begin = is_coarsened ? 2 * own.begin[0] : own.begin[0];
  const GlobalIndex end = is_coarsened ? std::min(2 * own.end[0] + 1, size) : own.end[0];
  Value* const t = rows_[static_cast<std::size_t>(thread.index)].data() + margin - begin;
  for_each_row_of(thread, own, [&](GlobalIndex y, GlobalIndex z) {
    const RestrictionTerms<Value> in_y(fine, 1, y);
    const RestrictionTerms<Value> in_z(fine, 2, z);
    std::fill(t + begin, t + end + 1, Value{0.0});
    for (int k = 0; k < in_z.count; ++k)
      for (int j = 0; j < in_y.count; ++j)
        add_row_to(begin, end,
                   static_cast<Value>(factor / to.grid.scale) *
                       in_z.weights[static_cast<std::size_t>(k)] *
                       in_y.weights[static_cast<std::size_t>(j)],
                   unit, fine_row(in_y.first + j, in_z.first + k), t);
    Value* const out = to.restriction_target().row(y, z);
    if (!is_coarsened) {
      std::copy(t + begin, t + end, out + begin);
      return;
    }
    const auto points = [&](GlobalIndex first, GlobalIndex after) {
      const std::array<Value, 3> w = RestrictionTerms<Value>(fine, 0, first).weights;
#pragma omp simd
      for (GlobalIndex x = first; x < after; ++x)
        out[x] = (w[0] * t[2 * x] + w[1] * t[2 * x + 1]) + w[2] * t[2 * x + 2];
    };
    const GlobalIndex last = size / 2 - 1;
    if (own.begin[0] < last) points(own.begin[0], std::min(own.end[0], last));
    if (own.end[0] == last + 1) points(last, last + 1);
  });
  thread.barrier();
}

template <class Value>
template <class Out, class RowOf>
void FullStart<Value>::interpolate_to(const TeamThread& thread, std::size_t index, Out factor,
                                      const RowOf& fine_row) {
  typename CycleGrids<Value>::Level& from = cycle_.grids_.levels()[index + 1];
  collective_exchange(thread, *from.e_halo);
  const typename CycleGrids<Value>::Level& to = cycle_.grids_.levels()[index];
  const GridArray<Value>& e = from.interpolation_source();
  const GridBox own = to.cuts.box(rank());
  const auto& terms = transfers_[index].terms;
  const auto term = [&](std::size_t d, GlobalIndex i) -> const CubicTerms<Value>& {
    return terms[d][static_cast<std::size_t>(i - own.begin[d])];
  };
  if (!own.is_empty()) {
    const auto needed = points_needed(terms[0]);
    const GlobalIndex begin = needed.first;
    const GlobalIndex end = needed.second;
    Value* const t = rows_[static_cast<std::size_t>(thread.index)].data() + margin - begin;
    for_each_row_of(thread, own, [&](GlobalIndex y, GlobalIndex z) {
      const CubicTerms<Value>& in_y = term(1, y);
      const CubicTerms<Value>& in_z = term(2, z);
      std::fill(t + begin, t + end, Value{0.0});
      for (int k = 0; k < in_z.count; ++k)
        for (int j = 0; j < in_y.count; ++j) {
          const Value weight =
              in_z.weights[static_cast<std::size_t>(k)] * in_y.weights[static_cast<std::size_t>(j)];
          const Value* const row = e.row(in_y.first + j, in_z.first + k);
#pragma omp simd
          for (GlobalIndex x = begin; x < end; ++x) t[x] += weight * row[x];
        }
      Out* const out = fine_row(y, z);
      if (to.grid.is_coarsened[0])
        interpolate_row(std::span<const CubicTerms<Value>>(terms[0]), own.begin[0], own.end[0], t,
                        factor, out);
      else
        for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x)
          out[x] = factor * static_cast<Out>(t[x]);
    });
  }
  thread.barrier();
}

template <class Value>
void FullStart<Value>::subtract_product(const TeamThread& thread, std::size_t index) const {
  typename CycleGrids<Value>::Level& level = cycle_.grids_.levels()[index];
  const GridLevel& grid = level.grid;
  const GridBox own = level.cuts.box(rank());
  if (own.is_empty()) return;
  const GridArray<Value>& u = guesses_[index].values;
  const auto coupling = [&](std::size_t d) {
    return static_cast<Value>(grid.directions[d].coupling);
  };
  const auto before = [&](std::size_t d, GlobalIndex i) {
    return static_cast<Value>(grid.directions[d].before(i));
  };
  const GridBox box = grown(own, cycle_.depth(), grid.points());
  for_each_row_of(thread, box, [&](GlobalIndex y, GlobalIndex z) {
    const Value* const here = u.row(y, z);
    const Value* const below = u.row(y - 1, z);
    const Value* const above = u.row(y + 1, z);
    const Value* const behind = u.row(y, z - 1);
    const Value* const ahead = u.row(y, z + 1);
    Value* const f = level.f.row(y, z);
    const Value to_below = before(1, y);
    const Value to_behind = before(2, z);
    const Value to_above = coupling(1);
    const Value to_ahead = coupling(2);
    const auto points = [&](GlobalIndex first, GlobalIndex end) {
      const auto diagonal = static_cast<Value>(grid.diagonal(first, y, z));
      const Value to_left = before(0, first);
      const Value to_right = coupling(0);
#pragma omp simd
      for (GlobalIndex x = first; x < end; ++x)
        f[x] = (f[x] - diagonal * here[x]) + ((to_left * here[x - 1] + to_right * here[x + 1]) +
                                              ((to_below * below[x] + to_above * above[x]) +
                                               (to_behind * behind[x] + to_ahead * ahead[x])));
    };
    const GlobalIndex last = grid.directions[0].size - 1;
    if (box.begin[0] < last) points(box.begin[0], std::min(box.end[0], last));
    if (box.end[0] == last + 1) points(last, last + 1);
  });
}

template <class Value>
void FullStart<Value>::take_correction(const TeamThread& thread, std::size_t index, bool is_first,
                                       bool is_last) {
  typename CycleGrids<Value>::Level& level = cycle_.grids_.levels()[index];
  Guess& guess = guesses_[index];
  const GridBox own = level.cuts.box(rank());
  for_each_row_of(thread, own, [&](GlobalIndex y, GlobalIndex z) {
    Value* const values = guess.values.row(y, z);
    Value* const sum = guess.sum.row(y, z);
    Value* const e = level.e.row(y, z);
    for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x) {
      const Value so_far = is_first ? values[x] : sum[x] + values[x];
      if (is_last) {
        e[x] += so_far;
      } else {
        sum[x] = so_far;
        values[x] = e[x];
      }
    }
  });
  thread.barrier();
}

template <class Value>
void FullStart<Value>::collective_run(const TeamThread& thread, const spmv::GridLayout& layout,
                                      const double* b, double unit, double* x) {
  const auto levels = cycle_.grids_.levels();
  const std::size_t last = levels.size() - 1;
  restrict_to(thread, 1, 1 / cycle_.finest().scale, unit,
              [&](GlobalIndex y, GlobalIndex z) { return b + layout.index(0, y, z); });
  for (std::size_t i = 1; i < last; ++i) {
    collective_exchange(thread, *levels[i].f_halo);
    restrict_to(thread, i + 1, 1, Value{1},
                [&](GlobalIndex y, GlobalIndex z) { return levels[i].f.row(y, z); });
  }
  cycle_.descend_from(thread, last, {.array = &levels[last].f}, &*levels[last].f_halo);
  for (std::size_t i = last - 1; i > 0; --i) {
    interpolate_to(thread, i, Value{1},
                   [&](GlobalIndex y, GlobalIndex z) { return guesses_[i].values.row(y, z); });
    for (int k = 0; k < cycles_per_grid; ++k) {
      collective_exchange(thread, *guesses_[i].halo);
      subtract_product(thread, i);
      thread.barrier();
      run_cycle(typename GridCycle<Value>::Steps{cycle_, thread, i}, i);
      take_correction(thread, i, k == 0, k + 1 == cycles_per_grid);
    }
  }
  interpolate_to(thread, 0, 1 / unit,
                 [&](GlobalIndex y, GlobalIndex z) { return x + layout.index(0, y, z); });
}

template class FullStart<float>;
template class FullStart<double>;

}  // namespace weft::solver
