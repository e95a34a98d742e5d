#include "solver/amg/coarsening/renewed_galerkin.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/product_rows.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Gives A·P its values.
void multiply(const comm_thread::Crew& crew, const LevelMatrix& level,
              const CouplingRows<float>& prolongator, LocalIndex column_count, MadeRows& product) {
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::size_t block = 0;
    perfmodel::PageVector<double> sums(static_cast<std::size_t>(column_count), 0.0);
    visit_product_rows(
        level, prolongator, static_cast<std::size_t>(level.thread_rows[index]),
        static_cast<std::size_t>(level.thread_rows[index + 1]),
        [&](std::span<const Coupling<float>> row, double value) {
          for (const auto& [weight, column] : row)
            sums[static_cast<std::size_t>(column)] += value * static_cast<double>(weight);
        },
        [&](std::size_t row) {
          for (PackedCoupling& entry : product.blocks[index].writable(product.rows[row], block))
            entry.set_value(std::exchange(sums[static_cast<std::size_t>(entry.column())], 0.0));
        });
  });
}

}  // namespace

void collective_renew_galerkin(const comm_thread::Crew& crew, const LevelMatrix& level,
                               const CouplingRows<float>& prolongator, CoarseColumns& columns,
                               const Restriction& restriction, KeptProduct& kept,
                               spmv::DistributedMatrix& coarse) {
  multiply(crew, level, prolongator, columns.count(), kept.own);
  perfmodel::PageVector<FineRow>& product = kept.own.rows;
  collective_renew_values(crew, product, kept.foreign);
  for (std::size_t row = 0; row < kept.foreign.rows.size(); ++row)
    product.push_back(kept.foreign.product.row(row));

  // The number in `columns` of each column of `coarse`.
  std::vector<LocalIndex> numbers;
  for (LocalIndex column = 0; column < coarse.rows.row_count; ++column) numbers.push_back(column);
  for (const GlobalIndex column : coarse.halo_columns) numbers.push_back(columns.meet(column));
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.rows.begin, 1, crew.team().thread_count());
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    perfmodel::PageVector<double> sums(static_cast<std::size_t>(columns.count()), 0.0);
    visit_coarse_rows(
        restriction.rows, product, static_cast<std::size_t>(thread_rows[index]),
        static_cast<std::size_t>(thread_rows[index + 1]),
        [&](const FineRow& row, double weight) {
          for (const PackedCoupling& entry : row)
            sums[static_cast<std::size_t>(entry.column())] += weight * entry.value();
        },
        [&](std::size_t row) {
          for (auto k = static_cast<std::size_t>(coarse.rows.row_offsets[row]);
               k < static_cast<std::size_t>(coarse.rows.row_offsets[row + 1]); ++k)
            coarse.rows.values[k] =
                std::exchange(sums[static_cast<std::size_t>(
                                  numbers[static_cast<std::size_t>(coarse.rows.columns[k])])],
                              0.0);
        });
  });
  product.resize(static_cast<std::size_t>(level.row_count()));
}

}  // namespace weft::solver::amg
