#include "solver/amg/coarsening/chains.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "spmv/rows/ask_owners.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

namespace {

constexpr std::size_t most = Chains::most_links;

/// A tridiagonal matrix, eliminated from both ends.
struct Tridiagonal {
  std::size_t count = 0;
  std::array<double, most> lower{};  // to the row before
  std::array<double, most> diagonal{};
  std::array<double, most> upper{};  // to the next row

  // Share that a row has of the next one, or of the one before, once all on its other side has been
  // eliminated, and the diagonal that this leaves.
  std::array<double, most> of_next{};
  std::array<double, most> of_last{};
  std::array<double, most> from_first{};
  std::array<double, most> from_last{};

  /// True if all that is left of the diagonal is positive.
  bool eliminate() {
    bool is_positive = true;
    const auto share = [&](double value, double rest) {
      is_positive = is_positive && rest > 0;
      return rest > 0 ? -value / rest : 0;
    };
    for (std::size_t k = 0; k < count; ++k) {
      from_first[k] = diagonal[k] + (k > 0 ? lower[k] * of_next[k - 1] : 0);
      of_next[k] = share(upper[k], from_first[k]);
    }
    for (std::size_t k = count; k-- > 0;) {
      from_last[k] = diagonal[k] + (k + 1 < count ? upper[k] * of_last[k + 1] : 0);
      of_last[k] = share(lower[k], from_last[k]);
    }
    return is_positive;
  }
};

}  // namespace

/// Links in the order of the chain, from the end whose row is lower.
struct Chains::Segment {
  std::size_t count = 0;
  std::array<Row, most_links> links{};
  std::array<GlobalIndex, 2> ends{no_row, no_row};  // beyond the first and the last link

  GlobalIndex before(std::size_t k) const { return k > 0 ? links[k - 1].row : ends[0]; }
  GlobalIndex after(std::size_t k) const { return k + 1 < count ? links[k + 1].row : ends[1]; }

  /// A_F, with what it has in the ends.
  Tridiagonal filtered() const {
    Tridiagonal matrix{.count = count};
    for (std::size_t k = 0; k < count; ++k) {
      matrix.lower[k] = links[k].value_to(before(k));
      matrix.diagonal[k] = links[k].diagonal;
      matrix.upper[k] = links[k].value_to(after(k));
    }
    return matrix;
  }
  /// D^(-1/2)·A·D^(-1/2) in the links.
  Tridiagonal scaled() const {
    Tridiagonal matrix{.count = count};
    for (std::size_t k = 0; k < count; ++k) matrix.diagonal[k] = 1;
    for (std::size_t k = 0; k + 1 < count; ++k)
      matrix.upper[k] = matrix.lower[k + 1] =
          links[k].value_to(links[k + 1].row) * links[k].scale * links[k + 1].scale;
    return matrix;
  }
};

Chains::Chains(const comm_thread::Crew& crew, const LevelMatrix& level, const StrongRows& strong,
               const IndependentSet& roots, const Aggregates& aggregates,
               std::span<const double> scale, bool inverts)
    : level_(level),
      strong_(strong),
      roots_(roots),
      aggregates_(aggregates),
      scale_(scale),
      first_row_(level.matrix.first_row()),
      places_(scale.size(), Place{}) {
  if (crew.communicator().size() > 1) collective_fetch(crew);
  std::vector<perfmodel::PageVector<Solved>> parts(
      static_cast<std::size_t>(crew.team().thread_count()));
  const auto for_rows = [&](const TeamThread& thread, const auto& work) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto begin = static_cast<std::size_t>(level.thread_rows[index]);
    const auto end = static_cast<std::size_t>(level.thread_rows[index + 1]);
    for (std::size_t row = begin; row < end; ++row) work(row, begin, end);
  };
  // A segment between rows of two threads is solved by both.
  crew.team().run([&](const TeamThread& thread) {
    perfmodel::PageVector<Solved>& part = parts[static_cast<std::size_t>(thread.index)];
    for_rows(thread, [&](std::size_t row, std::size_t begin, std::size_t end) {
      if (places_[row].segment >= 0 || !is_link(row)) return;
      part.push_back(solve(segment_of(row), inverts));
      const Solved& solved = part.back();
      for (std::int32_t k = 0; k < solved.count; ++k) {
        const auto link = static_cast<std::size_t>(solved.columns[static_cast<std::size_t>(k)]);
        if (link >= begin && link < end)
          places_[link] = {static_cast<std::int32_t>(part.size()) - 1, k};
      }
    });
  });
  segments_ = std::move(parts.front());
  std::vector<std::int32_t> before{0};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    before.push_back(static_cast<std::int32_t>(segments_.size()));
    segments_.insert(segments_.end(), parts[i].begin(), parts[i].end());
  }
  crew.team().run([&](const TeamThread& thread) {
    const std::int32_t first = before[static_cast<std::size_t>(thread.index)];
    if (first == 0) return;
    for_rows(thread, [&](std::size_t row, std::size_t, std::size_t) {
      if (places_[row].segment >= 0) places_[row].segment += first;
    });
  });
}

Chains::Solved Chains::solve(const Segment& segment, bool inverts) const {
  Solved solved{.count = static_cast<std::int32_t>(segment.count)};
  for (std::size_t end = 0; end < 2; ++end)
    solved.aggregates[end] =
        segment.ends[end] == no_row ? Aggregates::none : find(segment.ends[end]).aggregate;
  Tridiagonal filtered = segment.filtered();
  filtered.eliminate();
  double product = 1;
  for (std::size_t k = 0; k < segment.count; ++k) {
    solved.columns[k] = local(segment.links[k].row);
    product *= filtered.of_last[k];
    solved.weights[k][0] = static_cast<float>(product);
  }
  product = 1;
  for (std::size_t k = segment.count; k-- > 0;) {
    product *= filtered.of_next[k];
    solved.weights[k][1] = static_cast<float>(product);
  }
  if (!inverts) return solved;
  Tridiagonal scaled = segment.scaled();
  const bool is_positive = scaled.eliminate();
  for (std::size_t j = 0; j < segment.count; ++j) {
    double entry = 1 / (scaled.from_first[j] + scaled.from_last[j] - scaled.diagonal[j]);
    for (std::size_t i = j + 1; i-- > 0;) {
      if (i < j) entry *= scaled.of_next[i];
      if (!is_positive) entry = i == j ? 1 : 0;
      solved.inverse[i][j] = solved.inverse[j][i] = static_cast<float>(entry);
    }
  }
  return solved;
}

std::array<Chains::Weight, 2> Chains::weights(std::size_t row) const {
  const Place place = places_[row];
  const Solved& segment = segments_[static_cast<std::size_t>(place.segment)];
  const auto& values = segment.weights[static_cast<std::size_t>(place.link)];
  return {Weight{segment.aggregates[0], values[0]}, Weight{segment.aggregates[1], values[1]}};
}

std::size_t Chains::inverse_count(std::size_t row) const {
  const Place place = places_[row];
  if (place.segment < 0) return strong_.is_alone(row) ? 1 : 0;
  return static_cast<std::size_t>(segments_[static_cast<std::size_t>(place.segment)].count);
}

Chains::InverseRow Chains::inverse(std::size_t row) const {
  InverseRow inverse;
  const Place place = places_[row];
  if (place.segment >= 0) {
    const Solved& segment = segments_[static_cast<std::size_t>(place.segment)];
    for (; inverse.count < static_cast<std::size_t>(segment.count); ++inverse.count)
      inverse.couplings[inverse.count] = {
          segment.inverse[static_cast<std::size_t>(place.link)][inverse.count],
          segment.columns[inverse.count]};
  } else if (strong_.is_alone(row)) {
    inverse.couplings[inverse.count++] = {1, static_cast<LocalIndex>(row)};
  }
  return inverse;
}

Chains::Row Chains::describe(std::size_t row) const {
  Row described{.row = first_row_ + static_cast<GlobalIndex>(row),
                .aggregate = aggregates_.of(row),
                .diagonal = strong_.diagonal(row),
                .scale = scale_[row],
                .is_link = is_link(row)};
  if (!described.is_link) return described;
  std::size_t side = 0;
  for (const auto& [value, column] : strong_.couplings(row)) {
    described.neighbours[side] = level_.matrix.global_column(column);
    described.values[side++] = value;
  }
  return described;
}

Chains::Row Chains::find(GlobalIndex row) const {
  if (is_own(row)) return describe(static_cast<std::size_t>(row - first_row_));
  return *std::ranges::lower_bound(others_, row, {}, &Row::row);
}

LocalIndex Chains::local(GlobalIndex row) const {
  if (is_own(row)) return static_cast<LocalIndex>(row - first_row_);
  return static_cast<LocalIndex>(scale_.size()) +
         static_cast<LocalIndex>(std::ranges::lower_bound(halo_rows, row) - halo_rows.begin());
}

/// The rows of other ranks in segments with links of this one, one after the other along the chain.
void Chains::collective_fetch(const comm_thread::Crew& crew) {
  std::set<GlobalIndex> known;
  std::vector<GlobalIndex> wanted;
  const auto want_neighbours = [&](const Row& link) {
    for (const GlobalIndex row : link.neighbours)
      if (row != no_row && !is_own(row) && known.insert(row).second) wanted.push_back(row);
  };
  const auto reaches_others = [&](std::size_t row) {
    for (const auto& [value, column] : strong_.couplings(row))
      if (column >= level_.row_count()) return true;
    return false;
  };
  for (std::size_t row = 0; row < scale_.size(); ++row)
    if (is_link(row) && reaches_others(row)) want_neighbours(describe(row));
  while (crew.communicator().max(std::ssize(wanted)) > 0) {
    const std::vector<GlobalIndex> rows = std::exchange(wanted, {});
    spmv::collective_ask_owners<Row>(
        crew.communicator(), level_.matrix.partition, rows,
        [this](GlobalIndex row, std::vector<Row>& items) {
          items.push_back(describe(static_cast<std::size_t>(row - first_row_)));
        },
        [&](const Row& row) {
          others_.push_back(row);
          want_neighbours(row);
        });
  }
  std::ranges::sort(others_, {}, &Row::row);
  for (const Row& row : others_) halo_rows.push_back(row.row);
}

std::optional<Chains::Row> Chains::link_beside(const Row& link, GlobalIndex neighbour) const {
  if (neighbour == no_row) return std::nullopt;
  const Row there = find(neighbour);
  return there.is_link && there.has_neighbour(link.row) ? std::optional(there) : std::nullopt;
}

Chains::Segment Chains::segment_of(std::size_t row) const {
  // To the first link, on the side of the lower neighbour.
  Row link = describe(row);
  GlobalIndex before = link.neighbours[0];
  for (std::size_t steps = 1; steps < most_links; ++steps) {
    const std::optional<Row> there = link_beside(link, before);
    if (!there) break;
    before = there->neighbour_beside(link.row);
    link = *there;
  }
  Segment segment;
  segment.ends[0] = before;
  for (GlobalIndex from = before; segment.count < most_links;) {
    segment.links[segment.count++] = link;
    segment.ends[1] = link.neighbour_beside(from);
    const std::optional<Row> next = link_beside(link, segment.ends[1]);
    if (!next) break;
    from = link.row;
    link = *next;
  }
  if (segment.links[0].row > segment.links[segment.count - 1].row) {
    std::reverse(segment.links.begin(),
                 segment.links.begin() + static_cast<std::ptrdiff_t>(segment.count));
    std::swap(segment.ends[0], segment.ends[1]);
  }
  return segment;
}

}  // namespace weft::solver::amg
