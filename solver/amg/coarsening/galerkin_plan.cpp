#include "solver/amg/coarsening/galerkin_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "solver/amg/coarsening/foreign_rows.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

GalerkinPlan::GalerkinPlan(Crew& crew, const LevelMatrix& level,
                           const CouplingRows<float>& prolongator, const CoarseColumns& columns)
    : parts_(static_cast<std::size_t>(crew.team().thread_count())) {
  constexpr LocalIndex none = -1;
  const spmv::CrsMatrix& a = level.matrix.rows;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Part& part = parts_[index];
    const auto first = static_cast<std::size_t>(level.thread_rows[index]);
    const auto last = static_cast<std::size_t>(level.thread_rows[index + 1]);
    std::int64_t count = 0;
    for (auto k = static_cast<std::size_t>(a.row_offsets[first]);
         k < static_cast<std::size_t>(a.row_offsets[last]); ++k) {
      const auto column = static_cast<std::size_t>(a.columns[k]);
      count += prolongator.begin[column + 1] - prolongator.begin[column];
    }
    part.places.resize(static_cast<std::size_t>(count));
    part.product.reserve(last - first, static_cast<std::size_t>(count));
    std::vector<LocalIndex> place_of(static_cast<std::size_t>(columns.count()), none);
    std::size_t next = 0;  // product
    for (std::size_t row = first; row < last; ++row) {
      const std::int64_t begin = std::ssize(part.product.couplings);
      for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
           k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
        const double value = a.values[k];
        for (const auto& [weight, column] :
             prolongator.row(static_cast<std::size_t>(a.columns[k]))) {
          LocalIndex& place = place_of[static_cast<std::size_t>(column)];
          if (place == none) {
            place = static_cast<LocalIndex>(std::ssize(part.product.couplings) - begin);
            part.product.couplings.push_back(PackedCoupling({0, column}));
          }
          PackedCoupling& sum =
              part.product
                  .couplings[static_cast<std::size_t>(begin) + static_cast<std::size_t>(place)];
          sum.set_value(sum.value() + value * static_cast<double>(weight));
          part.places[next++] = place;
        }
      }
      part.product.end_row();
      for (const auto& coupling : part.product.row(part.product.row_count() - 1))
        place_of[static_cast<std::size_t>(coupling.column())] = none;
    }
  });
}

void GalerkinPlan::take_new_values(Crew& crew, const LevelMatrix& level,
                                   const CouplingRows<float>& prolongator) {
  const spmv::CrsMatrix& a = level.matrix.rows;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Part& part = parts_[index];
    const auto first = static_cast<std::size_t>(level.thread_rows[index]);
    const auto last = static_cast<std::size_t>(level.thread_rows[index + 1]);
    std::size_t next = 0;  // product
    for (std::size_t row = first; row < last; ++row) {
      PackedCoupling* const sums = part.product.couplings.data() + part.product.begin[row - first];
      for (auto k = part.product.begin[row - first]; k < part.product.begin[row - first + 1]; ++k)
        part.product.couplings[static_cast<std::size_t>(k)].set_value(0);
      for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
           k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
        const double value = a.values[k];
        for (const auto& [weight, column] :
             prolongator.row(static_cast<std::size_t>(a.columns[k]))) {
          PackedCoupling& sum = sums[part.places[next++]];
          sum.set_value(sum.value() + value * static_cast<double>(weight));
        }
      }
    }
  });
}

void GalerkinPlan::collective_multiply(Crew& crew, const LevelMatrix& level,
                                       const CouplingRows<float>& prolongator,
                                       CoarseColumns& columns, const Restriction& restriction,
                                       spmv::DistributedMatrix& coarse) {
  PageVector<FineRow> product;
  product.reserve(static_cast<std::size_t>(level.row_count()) + restriction.halo_rows.size());
  for (const Part& part : parts_)
    for (std::size_t row = 0; row < part.product.row_count(); ++row)
      product.push_back(part.product.row(row));
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
    std::vector<double> sums(static_cast<std::size_t>(columns.count()));
    for (auto row = static_cast<std::size_t>(thread_rows[index]);
         row < static_cast<std::size_t>(thread_rows[index + 1]); ++row) {
      for (const auto& [weight, fine_row] : restriction.rows.row(row))
        for (const PackedCoupling& entry : product[static_cast<std::size_t>(fine_row)])
          sums[static_cast<std::size_t>(entry.column())] +=
              static_cast<double>(weight) * entry.value();
      for (auto k = static_cast<std::size_t>(coarse.rows.row_offsets[row]);
           k < static_cast<std::size_t>(coarse.rows.row_offsets[row + 1]); ++k) {
        double& sum = sums[static_cast<std::size_t>(
            numbers[static_cast<std::size_t>(coarse.rows.columns[k])])];
        coarse.rows.values[k] = sum;
        sum = 0;
      }
    }
  });
}

}  // namespace weft::solver::amg
