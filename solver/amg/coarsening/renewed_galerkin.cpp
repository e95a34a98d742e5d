#include "solver/amg/coarsening/renewed_galerkin.h"

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "perfmodel/simd.h"
#include "solver/amg/coarsening/coarse_sums.h"
#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/product_rows.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Gives A·P its values.
template <class Sums>
void multiply(const comm_thread::Crew& crew, const LevelMatrix& level,
              const EntryRows<typename Sums::OfProlongator>& prolongator, const Sums& no_sums,
              MadeRows& product) {
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::size_t block = 0;
    Sums sums = no_sums;  // on pages of this thread
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      visit_product_rows(
          level, prolongator, static_cast<std::size_t>(level.thread_rows[index]),
          static_cast<std::size_t>(level.thread_rows[index + 1]),
          [&](std::span<const typename Sums::OfProlongator> row, double value)
              __attribute__((always_inline)) { sums.template add_row<Simd>(row, value); },
          [&](std::size_t row) {
            sums.take_row(product.blocks[index].writable(product.rows[row], block));
          });
    });
  });
}

/// Gives the rows of `coarse` their values. `product`: A·P, with the rows of other ranks;
/// `numbers`: of the columns of `coarse`.
template <class Sums>
void multiply_restriction(const comm_thread::Crew& crew, const CouplingRows<float>& restriction,
                          const perfmodel::PageVector<FineRow>& product,
                          std::span<const LocalIndex> numbers, const Sums& no_sums,
                          spmv::DistributedMatrix& coarse) {
  std::vector<std::size_t> places;
  places.reserve(numbers.size());
  for (const LocalIndex number : numbers) places.push_back(no_sums.place(number));
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.begin, 1, crew.team().thread_count());
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Sums sums = no_sums;  // on pages of this thread
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      visit_coarse_rows(
          restriction, product, static_cast<std::size_t>(thread_rows[index]),
          static_cast<std::size_t>(thread_rows[index + 1]),
          [&](const FineRow& row, double weight)
              __attribute__((always_inline)) { sums.template add_row<Simd>(row, weight); },
          [&](std::size_t row) {
            for (auto k = static_cast<std::size_t>(coarse.rows.row_offsets[row]);
                 k < static_cast<std::size_t>(coarse.rows.row_offsets[row + 1]); ++k)
              coarse.rows.values[k] =
                  sums.take(places[static_cast<std::size_t>(coarse.rows.columns[k])]);
          });
    });
  });
}

/// `prolongator`: in the form that Sums reads.
template <class Sums>
void collective_renew(const comm_thread::Crew& crew, const LevelMatrix& level,
                      const EntryRows<typename Sums::OfProlongator>& prolongator,
                      CoarseColumns& columns, const Restriction& restriction, KeptProduct& kept,
                      const Sums& no_sums, spmv::DistributedMatrix& coarse) {
  multiply(crew, level, prolongator, no_sums, kept.own);
  perfmodel::PageVector<FineRow>& product = kept.own.rows;
  collective_renew_values(crew, product, kept.foreign);
  for (std::size_t row = 0; row < kept.foreign.rows.size(); ++row)
    product.push_back(kept.foreign.product.row(row));
  std::vector<LocalIndex> numbers;
  for (LocalIndex column = 0; column < coarse.rows.row_count; ++column) numbers.push_back(column);
  for (const GlobalIndex column : coarse.halo_columns) numbers.push_back(columns.meet(column));
  multiply_restriction(crew, restriction.rows, product, numbers, no_sums, coarse);
  product.resize(static_cast<std::size_t>(level.row_count()));
}

}  // namespace

void collective_renew_galerkin(const comm_thread::Crew& crew, const LevelMatrix& level,
                               const CouplingRows<float>& prolongator, CoarseColumns& columns,
                               const Restriction& restriction, KeptProduct& kept, int vector_count,
                               spmv::DistributedMatrix& coarse) {
  const auto renew_in_blocks = [&]<int block>(const CoarseBlockSums<block>& no_sums) {
    collective_renew(crew, level, in_blocks(crew, prolongator, no_sums), columns, restriction, kept,
                     no_sums, coarse);
  };
  // The sums are the same by any way, and each rank has its own.
  const bool is_in_blocks = are_in_blocks(columns, static_cast<std::size_t>(vector_count));
  if (is_in_blocks && vector_count == 2)
    renew_in_blocks(CoarseBlockSums<2>(columns));
  else if (is_in_blocks && vector_count == 3)
    renew_in_blocks(CoarseBlockSums<3>(columns));
  else if (is_in_blocks && vector_count == 6)
    renew_in_blocks(CoarseBlockSums<6>(columns));
  else
    collective_renew(crew, level, prolongator, columns, restriction, kept, CoarseSums(columns),
                     coarse);
}

}  // namespace weft::solver::amg
