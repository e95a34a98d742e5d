#pragma once

#include <array>
#include <cstddef>

#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/crew.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"
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
/// Rows with more couplings end a chain, with the value 1 for their aggregate, as roots do. As
/// roots are a maximal set, four links at most follow each other. Links are eliminated from both
/// ends of the chain at once, each by the same operations on any ranks and threads.
class Chains {
 public:
  /// Share of a link's value that a root's aggregate has.
  struct Weight {
    spmv::GlobalIndex aggregate = Aggregates::none;
    double value = 0;
  };

  /// Collective. Thread: the main thread, outside the team. A few halo exchanges of 48 bytes a row.
  Chains(Crew& crew, const LevelMatrix& level, const StrongRows& strong,
         const IndependentSet& roots, const Aggregates& aggregates);

  bool is_link(std::size_t row) const { return rows_[row].is_link; }
  /// A root in a chain, whose row of P has a 1 only.
  bool is_root(std::size_t row) const {
    return roots_.is_root(row) && strong_.columns(row).size() <= 2;
  }
  /// Of a link of this rank.
  std::array<Weight, 2> weights(std::size_t row) const;

 private:
  /// p = share·p_to + constant·aggregate, once all that is beyond the row has been eliminated.
  struct End {
    spmv::GlobalIndex aggregate = Aggregates::none;
    float share = 0;
    float constant = 0;
  };
  /// A row as its neighbours see it.
  struct Row {
    spmv::GlobalIndex upper = Aggregates::none;  // the second neighbour of a link, a global row
    std::array<End, 2> ends{};  // towards the first and the second neighbour; [0] where no link
    std::array<bool, 2> is_known{};
    bool is_link = false;
  };

  /// What the neighbour in place `side` of a link is to it; null: not known yet.
  const End* neighbour(std::size_t row, std::size_t side) const;
  bool eliminate(std::size_t row, std::size_t side, End& end) const;

  const StrongRows& strong_;
  const IndependentSet& roots_;
  spmv::GlobalIndex first_row_;
  RowValues<Row> rows_;
};

}  // namespace weft::solver::amg
