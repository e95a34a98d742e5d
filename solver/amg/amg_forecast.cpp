#include "solver/amg/amg_forecast.h"

#include <algorithm>
#include <cmath>

#include "solver/amg/coarsening/rank_count.h"
#include "solver/levels/gathering.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {
namespace {

/// Aggregates that a row of amg's prolongator leads to, on grids and meshes.
constexpr double aggregates_of_row = 3.5;

/// Rows of other ranks whose rows of P and A·P one of amg's ranks gets for Pᵀ·A·P on the finest
/// level: those near its own rows. Where the order is random, they are not near to anything, but
/// no row comes twice, and only those come that lead to an aggregate of the rank.
/// `rows_of_halo`: rows an entry of the halo, measured.
double rows_of_exchange(int ranks, double rows_of_halo, const MatrixSize& size) {
  const double others = size.rows * (1 - 1.0 / ranks);
  const double leading_here = 1 - std::pow(1 - 1.0 / ranks, aggregates_of_row);
  return std::min(rows_of_halo * size.halo_per_rank, leading_here * others);
}

/// Bytes of rows of P and A·P that amg's ranks send each other for the product Pᵀ·A·P on the finest
/// level, at their peak: those near other ranks' rows; where coarse rows go to another rank because
/// there are few, also all rows of P, once more with other numbers, and the coarse rows, together
/// about as much as most rows of A·P. Measured: entries of a row, rows an entry of the halo, fine
/// rows a coarse one, that share. `vectors`: of a node, which coarse levels represent; 1 where rows
/// are no nodes; `least_vectors`: if there may be fewer. `gather_rows`: of amg's settings. What is
/// not known before messages are measured counts: that a level moves to one rank.
double bytes_of_exchange(double vectors, double least_vectors, spmv::GlobalIndex gather_rows,
                         const MatrixSize& size) {
  constexpr double entry_bytes = 12;
  constexpr double row_bytes = 24;  // its number and lengths, and the row of P
  constexpr double copies = 3;  // sent, received, and as rows of the product
  constexpr double unknowns = 3;
  const Gathering gathering = gathering_of(gather_rows);
  const double least_coarse_rows = static_cast<double>(gathering.least_rows) / vectors;
  const int ranks = size.rank_count;
  if (ranks == 1) return 0;
  const double row_nonzeros = size.nonzeros / size.rows;
  const bool has_nodes = vectors > 1;
  const double entries = has_nodes ? 0.27 * vectors * row_nonzeros : 9 + 0.15 * row_nonzeros;
  const double rows_of_halo = has_nodes ? 1.8 : 0.76 + 0.04 * row_nonzeros;
  const double beside =
      copies * (row_bytes + entry_bytes * entries) * rows_of_exchange(ranks, rows_of_halo, size);
  const double nodes_of_aggregate = (has_nodes ? 0.9 : 1.6) * row_nonzeros;
  const double coarse_rows = size.rows / nodes_of_aggregate * (has_nodes ? vectors / unknowns : 1);
  const double groups = std::max(1.0, std::floor(coarse_rows / least_coarse_rows));
  const double gathered = groups < ranks ? std::ceil(ranks / groups) - 1 : 0;
  constexpr double share_of_moved = 0.85;
  const double of_moved_row = share_of_moved * entry_bytes * entries;
  const double moved =
      of_moved_row * std::min(1.0, gathered) * size.rows / ranks * (2 * gathered + 1);
  if (!gathering.is_chosen) return std::max(beside, moved);
  const auto most_rows = static_cast<double>(most_gathered_rows);
  const double rows_to_one = size.rows * least_vectors <= most_rows
                                 ? size.rows
                                 : std::min(coarse_rows, most_rows / vectors);
  const double to_one = of_moved_row * rows_to_one * (2 - 1.0 / ranks);
  return std::max({beside, moved, to_one});
}

}  // namespace

/// Of a nonzero and of a row of the matrix; of short rows, whose coarse rows are short as well, in
/// proportion to the nonzeros.
double forecast_bytes(const Settings& settings, const ForecastNodes& nodes,
                      const MatrixSize& size) {
  constexpr double motions = 6;  // of a rigid body
  // Measured with 3 and 6 vectors; on meshes, whose rows vary, and on grids.
  const bool is_mesh = !nodes.exist && size.may_be_sliced;
  const double of_levels = nodes.exist ? 27 * std::pow(nodes.vectors / motions, 1.4) * size.nonzeros
                           : is_mesh
                               ? 12 * size.nonzeros + 170 * size.rows
                               : std::min(13 * size.nonzeros + 230 * size.rows, 47 * size.nonzeros);
  // Numbers and places, measured, and a row of P.
  const double of_halo = 100 + 8 * (1 + aggregates_of_row * nodes.vectors);
  const double levels = of_levels / size.rank_count;
  const double halo = of_halo * size.halo_per_rank;
  const double exchange =
      bytes_of_exchange(nodes.vectors, nodes.least_vectors, settings.gather_rows, size);
  const double in_huge_pages = is_mesh ? 5e6 : nodes.exist ? 0 : 4e6;  // of which arrays use a part
  if (!is_mesh) return in_huge_pages + levels + halo + exchange;
  // The rows are sent when about half of the levels is there.
  return in_huge_pages + std::max(levels, 0.5 * levels + halo + 1.45 * exchange);
}

}  // namespace weft::solver::amg
