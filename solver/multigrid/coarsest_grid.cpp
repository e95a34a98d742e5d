#include "solver/multigrid/coarsest_grid.h"

#include <array>

namespace weft::solver {

using spmv::GlobalIndex;

namespace {

/// Calls visit(x, y, z) for all points, in their order.
template <class Visit>
void for_each_point(const GridLevel& level, const Visit& visit) {
  for (GlobalIndex z = 0; z < level.directions[2].size; ++z)
    for (GlobalIndex y = 0; y < level.directions[1].size; ++y)
      for (GlobalIndex x = 0; x < level.directions[0].size; ++x) visit(x, y, z);
}

}  // namespace

double CoarsestGrid::mass(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
  return level_.directions[0].mass(x) * level_.directions[1].mass(y) * level_.directions[2].mass(z);
}

CoarsestGrid::CoarsestGrid(const GridLevel& level, const GridCouplings* couplings)
    : level_(level), right_hand_side_(static_cast<std::size_t>(level.point_count())) {
  LowerTriangle matrix{.size = right_hand_side_.size(), .entries = {}};
  const auto row_of = [&](const std::array<GlobalIndex, 3>& at) {
    return static_cast<int>(at[0] +
                            level.directions[0].size * (at[1] + level.directions[1].size * at[2]));
  };
  for_each_point(level, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    const std::array<GlobalIndex, 3> at{x, y, z};
    const double own_mass = mass(x, y, z);
    const std::size_t element = couplings ? couplings->layout().index(x, y, z) : 0;
    for (std::size_t d = 0; d < 3; ++d) {
      if (at[d] == 0) continue;
      std::array<GlobalIndex, 3> before = at;
      --before[d];
      const double coupling =
          couplings ? couplings->before(d)[element] : own_mass * level.directions[d].before(at[d]);
      matrix.entries.push_back({row_of(at), row_of(before), -coupling});
    }
    const double diagonal =
        couplings ? couplings->diagonal(element) : own_mass * level.diagonal(x, y, z);
    matrix.entries.push_back({row_of(at), row_of(at), diagonal});
  });
  factor_ = std::make_unique<CholmodFactor>(
      matrix, 1, "the coarsest grid's operator is not positive definite");
}

template <class Value>
void CoarsestGrid::solve(const GridArray<Value>& f, GridArray<Value>& e) {
  std::size_t i = 0;
  for_each_point(level_, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    right_hand_side_[i++] = mass(x, y, z) * static_cast<double>(f.row(y, z)[x]);
  });
  const auto solution = factor_->solve(0, right_hand_side_);
  i = 0;
  for_each_point(level_, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    e.row(y, z)[x] = static_cast<Value>(solution[i++]);
  });
}

template void CoarsestGrid::solve(const GridArray<float>&, GridArray<float>&);
template void CoarsestGrid::solve(const GridArray<double>&, GridArray<double>&);

}  // namespace weft::solver
