#include "solver/multigrid/grids/level_cuts.h"

#include <algorithm>

namespace weft::solver {

using spmv::GlobalIndex;
using spmv::GridBox;

LevelCuts::LevelCuts(const spmv::GridPartition& partition)
    : ranks_(partition.dims()), rank_step_(partition.steps()) {
  for (std::size_t d = 0; d < 3; ++d) {
    for (int place = 0; place < ranks_[d]; ++place)
      cuts_[d].push_back(partition.box(place * rank_step_[d]).begin[d]);
    cuts_[d].push_back(partition.domain().end[d]);
  }
}

LevelCuts LevelCuts::coarse(const std::array<bool, 3>& is_coarsened) const {
  LevelCuts result = *this;
  for (std::size_t d = 0; d < 3; ++d)
    if (is_coarsened[d])
      for (GlobalIndex& cut : result.cuts_[d]) cut /= 2;
  return result;
}

LevelCuts LevelCuts::gathered(GlobalIndex least_points) const {
  LevelCuts result = *this;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto is_small = [&] {
      const auto& cuts = result.cuts_[d];
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        if (cuts[i + 1] - cuts[i] < least_points) return true;
      return false;
    };
    while (result.cuts_[d].size() > 2 && is_small()) result.merge(d);
  }
  return result;
}

LevelCuts LevelCuts::on_one_rank() const {
  LevelCuts result = *this;
  for (std::size_t d = 0; d < 3; ++d)
    while (result.cuts_[d].size() > 2) result.merge(d);
  return result;
}

LevelCuts LevelCuts::with_end() const {
  LevelCuts result = *this;
  for (auto& cuts : result.cuts_) ++cuts.back();
  return result;
}

void LevelCuts::merge(std::size_t direction) {
  auto& cuts = cuts_[direction];
  std::vector<GlobalIndex> kept;
  for (std::size_t i = 0; i + 1 < cuts.size(); i += 2) kept.push_back(cuts[i]);
  kept.push_back(cuts.back());
  cuts = std::move(kept);
  step_[direction] *= 2;
}

GlobalIndex LevelCuts::largest_size(std::size_t d) const {
  GlobalIndex largest = 0;
  for (std::size_t i = 0; i + 1 < cuts_[d].size(); ++i)
    largest = std::max(largest, cuts_[d][i + 1] - cuts_[d][i]);
  return largest;
}

GridBox LevelCuts::box(int rank) const {
  GridBox box;
  for (std::size_t d = 0; d < 3; ++d) {
    const int place = rank / rank_step_[d] % ranks_[d];
    if (place % step_[d] != 0) return {};
    const auto index = static_cast<std::size_t>(place / step_[d]);
    box.begin[d] = cuts_[d][index];
    box.end[d] = cuts_[d][index + 1];
  }
  return box;
}

bool LevelCuts::has_place(int rank) const {
  for (std::size_t d = 0; d < 3; ++d)
    if (rank / rank_step_[d] % ranks_[d] % step_[d] != 0) return false;
  return true;
}

int LevelCuts::rank_at(int x, int y, int z) const {
  return x * step_[0] * rank_step_[0] + y * step_[1] * rank_step_[1] + z * step_[2] * rank_step_[2];
}

void LevelCuts::for_each_owner(const GridBox& box,
                               const std::function<void(int, const GridBox&)>& visit) const {
  for_each_touching(box, [&](int rank) {
    const GridBox both = intersection(this->box(rank), box);
    if (!both.is_empty()) visit(rank, both);
  });
}

void LevelCuts::for_each_touching(const GridBox& box, const std::function<void(int)>& visit) const {
  std::array<int, 3> first{};
  std::array<int, 3> end{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& cuts = cuts_[d];
    first[d] = static_cast<int>(std::ranges::lower_bound(cuts, box.begin[d]) - cuts.begin()) - 1;
    end[d] = static_cast<int>(std::ranges::upper_bound(cuts, box.end[d]) - cuts.begin());
    first[d] = std::max(first[d], 0);
    end[d] = std::min(end[d], static_cast<int>(cuts.size()) - 1);
  }
  for (int z = first[2]; z < end[2]; ++z)
    for (int y = first[1]; y < end[1]; ++y)
      for (int x = first[0]; x < end[0]; ++x) visit(rank_at(x, y, z));
}

}  // namespace weft::solver
