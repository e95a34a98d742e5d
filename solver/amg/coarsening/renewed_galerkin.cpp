#include "solver/amg/coarsening/renewed_galerkin.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/page_allocator.h"
#include "solver/amg/coarsening/product_rows.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Gives the entries of A·P their columns.
void take_columns(PageVector<LocalIndex>& columns, PageVector<PackedCoupling>& entries) {
  if (columns.empty()) return;
  entries.reserve(columns.size());
  for (const LocalIndex column : columns) entries.emplace_back(Coupling<double>{0, column});
  columns = PageVector<LocalIndex>();  // gives its memory back
}

/// Gives A·P its values. Returns its rows.
PageVector<FineRow> multiply(Crew& crew, const LevelMatrix& level,
                             const CouplingRows<float>& prolongator, LocalIndex column_count,
                             std::size_t halo_row_count, GalerkinPlan& plan) {
  PageVector<FineRow> rows;
  rows.reserve(static_cast<std::size_t>(level.row_count()) + halo_row_count);
  rows.resize(static_cast<std::size_t>(level.row_count()));
  plan.product.resize(plan.columns.size());
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    PageVector<PackedCoupling>& entries = plan.product[index];
    take_columns(plan.columns[index].couplings, entries);
    const auto& begin = plan.columns[index].begin;
    const auto first = static_cast<std::size_t>(level.thread_rows[index]);
    PageVector<double> sums(static_cast<std::size_t>(column_count), 0.0);
    visit_product_rows(
        level, prolongator, first, static_cast<std::size_t>(level.thread_rows[index + 1]),
        [&](std::span<const Coupling<float>> row, double value) {
          for (const auto& [weight, column] : row)
            sums[static_cast<std::size_t>(column)] += value * static_cast<double>(weight);
        },
        [&](std::size_t row) {
          const std::span<PackedCoupling> sum(entries.data() + begin[row - first],
                                              entries.data() + begin[row - first + 1]);
          for (PackedCoupling& entry : sum)
            entry.set_value(std::exchange(sums[static_cast<std::size_t>(entry.column())], 0.0));
          rows[row] = sum;
        });
  });
  return rows;
}

}  // namespace

void collective_renew_galerkin(Crew& crew, const LevelMatrix& level,
                               const CouplingRows<float>& prolongator, CoarseColumns& columns,
                               const Restriction& restriction, GalerkinPlan& plan,
                               spmv::DistributedMatrix& coarse) {
  PageVector<FineRow> product =
      multiply(crew, level, prolongator, columns.count(), restriction.halo_rows.size(), plan);
  const Foreign foreign =
      collective_exchange_rows(crew, level, prolongator, product, coarse.partition, columns);
  for (std::size_t row = 0; row < foreign.rows.size(); ++row)
    product.push_back(foreign.product.row(row));

  // The number in `columns` of each column of `coarse`.
  std::vector<LocalIndex> numbers;
  for (LocalIndex column = 0; column < coarse.rows.row_count; ++column) numbers.push_back(column);
  for (const GlobalIndex column : coarse.halo_columns) numbers.push_back(columns.meet(column));
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.rows.begin, 1, crew.team().thread_count());
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    PageVector<double> sums(static_cast<std::size_t>(columns.count()), 0.0);
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
}

}  // namespace weft::solver::amg
