#include "solver/amg/coarsening/galerkin.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/moved_rows.h"
#include "solver/amg/coarsening/product_rows.h"
#include "solver/amg/coarsening/row_accumulator.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// A·P.
MadeRows multiply_prolongator(const comm_thread::Crew& crew, const LevelMatrix& level,
                              const CouplingRows<float>& prolongator, LocalIndex column_count,
                              std::size_t block) {
  MadeRows product{
      .blocks = std::vector<RowBlocks>(static_cast<std::size_t>(crew.team().thread_count())),
      .rows = perfmodel::PageVector<FineRow>(static_cast<std::size_t>(level.row_count()))};
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    RowAccumulator sums(column_count);
    RowBlocks blocks;
    visit_product_rows(
        level, prolongator, static_cast<std::size_t>(level.thread_rows[index]),
        static_cast<std::size_t>(level.thread_rows[index + 1]),
        [&](std::span<const Coupling<float>> row, double value) {
          sums.add_row(row, value, block);
        },
        [&](std::size_t row) {
          product.rows[row] = blocks.add(sums.open_row());
          sums.drop_row();
        });
    product.blocks[index] = std::move(blocks);
  });
  return product;
}

/// Pᵀ by a counting sort whose order is that of the fine rows: lower ranks', this rank's thread by
/// thread, higher ranks'.
CouplingRows<float> transpose(const comm_thread::Crew& crew, const LevelMatrix& level,
                              const CouplingRows<float>& prolongator, const Foreign& foreign,
                              const CoarseColumns& columns) {
  const auto own = static_cast<std::size_t>(columns.own_count());
  const auto thread_count = static_cast<std::size_t>(crew.team().thread_count());
  const GlobalIndex first_row = level.matrix.first_row();
  const auto lower = static_cast<std::size_t>(std::ranges::count_if(
      foreign.rows, [&](const ForeignRow& row) { return row.row < first_row; }));
  // By source: lower ranks, threads, higher ranks.
  std::vector<std::vector<std::int64_t>> places(thread_count + 2, std::vector<std::int64_t>(own));
  const auto for_foreign = [&](std::size_t begin, std::size_t end, const auto& visit) {
    for (std::size_t i = begin; i < end; ++i)
      for (const auto& [value, column] : foreign.transposed.row(i))
        visit(level.row_count() + static_cast<LocalIndex>(i), value,
              static_cast<std::size_t>(column));
  };
  const auto for_thread = [&](std::size_t index, const auto& visit) {
    for (LocalIndex row = level.thread_rows[index]; row < level.thread_rows[index + 1]; ++row)
      for (const auto& [value, column] : prolongator.row(static_cast<std::size_t>(row)))
        if (columns.is_own(column)) visit(row, value, static_cast<std::size_t>(column));
  };
  const auto for_source = [&](std::size_t source, const auto& visit) {
    if (source == 0)
      for_foreign(0, lower, visit);
    else if (source <= thread_count)
      for_thread(source - 1, visit);
    else
      for_foreign(lower, foreign.rows.size(), visit);
  };
  // Threads take the source with their number plus one; the primary also the others.
  const auto for_all_sources = [&](const auto& work) {
    crew.team().run([&](const TeamThread& thread) {
      work(static_cast<std::size_t>(thread.index) + 1);
      if (!thread.is_primary()) return;
      work(std::size_t{0});
      work(thread_count + 1);
    });
  };
  for_all_sources([&](std::size_t source) {
    for_source(source, [&](LocalIndex, float, std::size_t column) { ++places[source][column]; });
  });
  CouplingRows<float> rows;
  rows.begin.reserve(own + 1);
  std::int64_t next = 0;
  for (std::size_t column = 0; column < own; ++column) {
    for (auto& of_source : places) next += std::exchange(of_source[column], next);
    rows.begin.push_back(next);
  }
  rows.couplings.resize(static_cast<std::size_t>(next));
  for_all_sources([&](std::size_t source) {
    for_source(source, [&](LocalIndex row, float value, std::size_t column) {
      rows.couplings[static_cast<std::size_t>(places[source][column]++)] = {value, row};
    });
  });
  return rows;
}

/// The rows as a matrix; columns are places in ascending global order.
spmv::DistributedMatrix assemble(const comm_thread::Crew& crew, const spmv::RowPartition& coarse,
                                 const std::vector<LocalIndex>& thread_rows,
                                 const perfmodel::PageVector<FineRow>& made,
                                 const CoarseColumns& columns,
                                 const std::vector<LocalIndex>& places) {
  const int rank = crew.communicator().rank();
  spmv::DistributedMatrix matrix{.partition = coarse, .rank = rank, .rows = {}, .halo_columns = {}};
  // Which columns are used, by place.
  std::vector<char> is_used(places.size());
  for (const FineRow& row : made)
    for (const PackedCoupling& coupling : row)
      is_used[static_cast<std::size_t>(coupling.column())] = 1;
  std::vector<GlobalIndex> global_of_place(places.size());
  for (std::size_t column = 0; column < places.size(); ++column)
    global_of_place[static_cast<std::size_t>(places[column])] =
        columns.global(static_cast<LocalIndex>(column));
  std::vector<LocalIndex> local_of_place(places.size());
  for (std::size_t place = 0; place < places.size(); ++place) {
    const GlobalIndex global = global_of_place[place];
    if (global >= coarse.begin(rank) && global < coarse.end(rank)) {
      local_of_place[place] = static_cast<LocalIndex>(global - coarse.begin(rank));
    } else if (is_used[place]) {
      local_of_place[place] =
          columns.own_count() + static_cast<LocalIndex>(matrix.halo_columns.size());
      matrix.halo_columns.push_back(global);
    }
  }
  spmv::CrsMatrix& rows = matrix.rows;
  rows.row_count = columns.own_count();
  rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(rows.row_count) + 1);
  for (std::size_t row = 0; row < made.size(); ++row)
    rows.row_offsets[row + 1] = rows.row_offsets[row] + std::ssize(made[row]);
  const auto total = static_cast<std::size_t>(rows.nonzero_count());
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(total);
  rows.values = perfmodel::HugePageBuffer<double>(total);
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (auto row = static_cast<std::size_t>(thread_rows[index]);
         row < static_cast<std::size_t>(thread_rows[index + 1]); ++row) {
      auto place = static_cast<std::size_t>(rows.row_offsets[row]);
      for (const PackedCoupling& coupling : made[row]) {
        rows.columns[place] = local_of_place[static_cast<std::size_t>(coupling.column())];
        rows.values[place++] = coupling.value();
      }
    }
  });
  matrix.global_nonzero_count = crew.communicator().sum(rows.nonzero_count());
  return matrix;
}

/// R, whose rows are of P and of the rows of P that others sent.
Restriction make_restriction(const comm_thread::Crew& crew, const LevelMatrix& level,
                             const CouplingRows<float>& prolongator, const Foreign& foreign,
                             const CoarseColumns& columns) {
  Restriction restriction{.rows = transpose(crew, level, prolongator, foreign, columns),
                          .halo_rows = {},
                          .plan = plan_of(foreign)};
  for (const ForeignRow& row : foreign.rows) restriction.halo_rows.push_back(row.row);
  return restriction;
}

/// What a product with other values of A needs.
Foreign without_transposed(Foreign foreign) {
  foreign.transposed = {};
  return foreign;
}

/// The product where ranks keep the rows that they compute.
GalerkinProduct collective_multiply_here(const comm_thread::Crew& crew, const LevelMatrix& level,
                                         const CouplingRows<float>& prolongator,
                                         const spmv::RowPartition& coarse, CoarseColumns& columns,
                                         std::size_t block, bool keeps_product) {
  MadeRows made_product = multiply_prolongator(crew, level, prolongator, columns.count(), block);
  perfmodel::PageVector<FineRow>& product = made_product.rows;
  Foreign foreign = collective_exchange_rows(crew, level, prolongator, product, coarse, columns);
  for (std::size_t row = 0; row < foreign.rows.size(); ++row)
    product.push_back(foreign.product.row(row));

  Restriction restriction = make_restriction(crew, level, prolongator, foreign, columns);
  const std::vector<LocalIndex> places = columns.places();
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.rows.begin, 1, crew.team().thread_count());
  MadeRows made{
      .blocks = std::vector<RowBlocks>(static_cast<std::size_t>(crew.team().thread_count())),
      .rows = perfmodel::PageVector<FineRow>(restriction.rows.row_count())};
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    RowAccumulator sums(columns.count());
    RowBlocks blocks;
    visit_coarse_rows(
        restriction.rows, product, static_cast<std::size_t>(thread_rows[index]),
        static_cast<std::size_t>(thread_rows[index + 1]),
        [&](const FineRow& row, double weight) { sums.add_row(row, weight, block); },
        [&](std::size_t row) { made.rows[row] = blocks.add(sums.close_row(places)); });
    made.blocks[index] = std::move(blocks);
  });
  GalerkinProduct result{assemble(crew, coarse, thread_rows, made.rows, columns, places),
                         std::move(restriction)};
  if (!keeps_product) return result;
  product.resize(static_cast<std::size_t>(level.row_count()));
  result.kept = {std::move(made_product), without_transposed(std::move(foreign))};
  return result;
}

bool is_same(const spmv::RowPartition& a, const spmv::RowPartition& b) {
  for (int rank = 0; rank < a.rank_count(); ++rank)
    if (a.end(rank) != b.end(rank)) return false;
  return true;
}

/// The numbers that columns of `from` have in `to`, which gets those that it lacks.
class ColumnNumbers {
 public:
  ColumnNumbers(const CoarseColumns& from, CoarseColumns& to)
      : from_(from), to_(to), numbers_(static_cast<std::size_t>(from.count()), none) {}

  LocalIndex operator()(LocalIndex column) {
    LocalIndex& number = numbers_[static_cast<std::size_t>(column)];
    if (number == none) number = to_.meet(from_.global(column));
    return number;
  }

 private:
  static constexpr LocalIndex none = -1;

  const CoarseColumns& from_;
  CoarseColumns& to_;
  std::vector<LocalIndex> numbers_;
};

}  // namespace

GalerkinProduct collective_multiply_galerkin(
    const comm_thread::Crew& crew, const LevelMatrix& level, const CouplingRows<float>& prolongator,
    const spmv::RowPartition& roots, const spmv::RowPartition& coarse, CoarseColumns& columns,
    int vector_count, bool keeps_product) {
  const auto block = static_cast<std::size_t>(vector_count);
  if (is_same(roots, coarse))
    return collective_multiply_here(crew, level, prolongator, coarse, columns, block,
                                    keeps_product);
  CoarseColumns columns_there(roots, crew.communicator().rank());
  CouplingRows<float> renumbered = prolongator;
  ColumnNumbers number_there(columns, columns_there);
  for (Coupling<float>& entry : renumbered.couplings) entry.column = number_there(entry.column);
  GalerkinProduct made =
      collective_multiply_here(crew, level, renumbered, roots, columns_there, block, keeps_product);
  // What it keeps is for the ranks that have the roots.
  ColumnNumbers number_here(columns_there, columns);
  for (RowBlocks& rows : made.kept.own.blocks)
    for (auto& entries : rows.blocks())
      for (PackedCoupling& entry : entries) entry.set_column(number_here(entry.column()));
  MadeRows& own = made.kept.own;
  own.rows.resize(static_cast<std::size_t>(level.row_count()));  // empty ones where none are kept
  Foreign foreign = collective_exchange_rows(crew, level, prolongator, own.rows, coarse, columns);
  GalerkinProduct result{collective_move_rows(crew, made.matrix, coarse),
                         make_restriction(crew, level, prolongator, foreign, columns)};
  if (keeps_product) result.kept = {std::move(own), without_transposed(std::move(foreign))};
  return result;
}

}  // namespace weft::solver::amg
