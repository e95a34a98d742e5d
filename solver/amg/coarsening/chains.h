#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/strong_rows.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Interpolation along chains of strong couplings, as an anisotropic matrix of a plane has them. A
/// link is a row with one or two strong couplings that is no root; it is interpolated from the next
/// roots on both sides such that A_F·P = 0 in every link. Along its chains the coarse level is then
/// exact, and the rows of P are no longer than those of a smoothed aggregate.
///
///     chain     R ─ a ─ b ─ c ─ R'     with equal couplings: P_a = ¾R + ¼R',  P_b = ½R + ½R'
///
/// Rows with more couplings end a chain, with the value 1 for their aggregate, as roots do; so does
/// a link that lacks the coupling back, which rounding may leave strong for one of its rows only.
/// As roots are a maximal set, a segment between two ends has four links at most. Its matrix is
/// tridiagonal, and solved by elimination from the end with the lower row, by the same operations
/// on any ranks and threads.
class Chains {
 public:
  /// Of a segment.
  static constexpr std::size_t most_links = 4;

  /// Share of a link's value that a root's aggregate has.
  struct Weight {
    spmv::GlobalIndex aggregate = Aggregates::none;
    float value = 0;
  };

  /// `scale`: D^(-1/2) of own rows; `inverts`: whether `inverse` is wanted.
  /// Collective. Thread: the main thread, outside the team. Talks to those concerned only.
  /// Lifetime: all arguments outlive it.
  Chains(const comm_thread::Crew& crew, const LevelMatrix& level, const StrongRows& strong,
         const IndependentSet& roots, const Aggregates& aggregates, std::span<const double> scale,
         bool inverts);

  bool is_link(std::size_t row) const {
    const int count = strong_.couplings(row).size();
    return !roots_.is_root(row) && count > 0 && count <= 2;
  }
  /// A root in a chain, whose row of P has a 1 only.
  bool is_root(std::size_t row) const {
    return roots_.is_root(row) && strong_.couplings(row).size() <= 2;
  }
  /// Of a link of this rank.
  std::array<Weight, 2> weights(std::size_t row) const;

  /// A row of the inverse of D^(-1/2)·A·D^(-1/2) in the links of each segment, and where there is
  /// no strong coupling, but none of the weak couplings; a root's row is empty. Symmetric to the
  /// last bit. Columns: this rank's rows, then `halo_rows`; along the chain.
  struct InverseRow {
    std::size_t count = 0;
    std::array<Coupling<float>, most_links> couplings{};

    std::span<const Coupling<float>> span() const { return std::span(couplings).first(count); }
  };
  /// Of a row of this rank, where inverses are wanted.
  InverseRow inverse(std::size_t row) const;
  /// Couplings of this row of the inverse.
  std::size_t inverse_count(std::size_t row) const;
  std::vector<spmv::GlobalIndex> halo_rows;  // ascending

 private:
  static constexpr spmv::GlobalIndex no_row = -1;

  /// A row as a segment needs it.
  struct Row {
    spmv::GlobalIndex row = 0;
    spmv::GlobalIndex aggregate = Aggregates::none;
    std::array<spmv::GlobalIndex, 2> neighbours{no_row, no_row};  // of a link
    std::array<double, 2> values{};  // its couplings to them
    double diagonal = 0;  // of A_F
    double scale = 0;
    bool is_link = false;

    spmv::GlobalIndex neighbour_beside(spmv::GlobalIndex other) const {
      return neighbours[neighbours[0] == other ? 1 : 0];
    }
    bool has_neighbour(spmv::GlobalIndex other) const {
      return neighbours[0] == other || neighbours[1] == other;
    }
    double value_to(spmv::GlobalIndex neighbour) const {
      return neighbour == no_row ? 0 : values[neighbours[0] == neighbour ? 0 : 1];
    }
  };
  struct Segment;
  /// What is kept of a segment, by links.
  struct Solved {
    std::array<spmv::GlobalIndex, 2> aggregates{};  // of the ends
    std::array<std::array<float, 2>, most_links> weights{};
    std::array<std::array<float, most_links>, most_links> inverse{};
    std::array<spmv::LocalIndex, most_links> columns{};
    std::int32_t count = 0;
  };
  /// A link in its segment.
  struct Place {
    std::int32_t segment = -1;
    std::int32_t link = 0;
  };

  Row describe(std::size_t row) const;
  bool is_own(spmv::GlobalIndex row) const {
    return row >= first_row_ && row < first_row_ + static_cast<spmv::GlobalIndex>(scale_.size());
  }
  Row find(spmv::GlobalIndex row) const;
  void collective_fetch(const comm_thread::Crew& crew);
  /// `neighbour` of `link` if it is a link that `link` is a neighbour of.
  std::optional<Row> link_beside(const Row& link, spmv::GlobalIndex neighbour) const;
  Segment segment_of(std::size_t row) const;
  Solved solve(const Segment& segment, bool inverts) const;
  spmv::LocalIndex local(spmv::GlobalIndex row) const;

  const LevelMatrix& level_;
  const StrongRows& strong_;
  const IndependentSet& roots_;
  const Aggregates& aggregates_;
  std::span<const double> scale_;
  spmv::GlobalIndex first_row_;
  std::vector<Row> others_;  // rows of other ranks, ascending
  perfmodel::PageVector<Place> places_;  // of own rows
  perfmodel::PageVector<Solved> segments_;  // with links of this rank
};

}  // namespace weft::solver::amg
