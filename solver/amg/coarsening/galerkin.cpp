#include "solver/amg/coarsening/galerkin.h"

#include <algorithm>
#include <cstdint>
#include <functional>
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

/// Rows that threads made: `rows` are in the blocks of the threads.
struct MadeRows {
  std::vector<RowBlocks> blocks;
  PageVector<FineRow> rows;
};

/// A·P.
MadeRows multiply_prolongator(Crew& crew, const LevelMatrix& level,
                              const CouplingRows<float>& prolongator, LocalIndex column_count,
                              std::size_t block) {
  MadeRows product{
      .blocks = std::vector<RowBlocks>(static_cast<std::size_t>(crew.team().thread_count())),
      .rows = PageVector<FineRow>(static_cast<std::size_t>(level.row_count()))};
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

/// Of the rows of A·P.
GalerkinPlan galerkin_plan_of(Crew& crew, const LevelMatrix& level,
                              const PageVector<FineRow>& product) {
  GalerkinPlan plan;
  plan.columns.resize(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const std::span<const FineRow> rows(product.data() + level.thread_rows[index],
                                        product.data() + level.thread_rows[index + 1]);
    std::size_t count = 0;
    for (const FineRow& row : rows) count += row.size();
    EntryRows<LocalIndex> columns;
    columns.reserve(rows.size(), count);
    for (const FineRow& row : rows) {
      for (const PackedCoupling& entry : row) columns.couplings.push_back(entry.column());
      columns.end_row();
    }
    plan.columns[index] = std::move(columns);
  });
  return plan;
}

/// Pᵀ by a counting sort whose order is that of the fine rows: lower ranks', this rank's thread by
/// thread, higher ranks'.
CouplingRows<float> transpose(Crew& crew, const LevelMatrix& level,
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
spmv::DistributedMatrix assemble(Crew& crew, const spmv::RowPartition& coarse,
                                 const std::vector<LocalIndex>& thread_rows,
                                 const PageVector<FineRow>& made, const CoarseColumns& columns,
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
Restriction make_restriction(Crew& crew, const LevelMatrix& level,
                             const CouplingRows<float>& prolongator, const Foreign& foreign,
                             const CoarseColumns& columns) {
  Restriction restriction{.rows = transpose(crew, level, prolongator, foreign, columns),
                          .halo_rows = {},
                          .plan = plan_of(foreign)};
  for (const ForeignRow& row : foreign.rows) restriction.halo_rows.push_back(row.row);
  return restriction;
}

/// The product where ranks keep the rows that they compute.
GalerkinProduct collective_multiply_here(Crew& crew, const LevelMatrix& level,
                                         const CouplingRows<float>& prolongator,
                                         const spmv::RowPartition& coarse, CoarseColumns& columns,
                                         std::size_t block, bool makes_plan) {
  MadeRows made_product = multiply_prolongator(crew, level, prolongator, columns.count(), block);
  PageVector<FineRow>& product = made_product.rows;
  GalerkinPlan plan;
  if (makes_plan) plan = galerkin_plan_of(crew, level, product);
  const Foreign foreign =
      collective_exchange_rows(crew, level, prolongator, product, coarse, columns);
  for (std::size_t row = 0; row < foreign.rows.size(); ++row)
    product.push_back(foreign.product.row(row));

  Restriction restriction = make_restriction(crew, level, prolongator, foreign, columns);
  const std::vector<LocalIndex> places = columns.places();
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.rows.begin, 1, crew.team().thread_count());
  MadeRows made{
      .blocks = std::vector<RowBlocks>(static_cast<std::size_t>(crew.team().thread_count())),
      .rows = PageVector<FineRow>(restriction.rows.row_count())};
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
  return {assemble(crew, coarse, thread_rows, made.rows, columns, places), std::move(restriction),
          std::move(plan)};
}

bool is_same(const spmv::RowPartition& a, const spmv::RowPartition& b) {
  for (int rank = 0; rank < a.rank_count(); ++rank)
    if (a.end(rank) != b.end(rank)) return false;
  return true;
}

/// Gives the columns of entries their numbers in `to`, which gets those that it lacks.
template <class Entries, class ColumnOf>
void renumber(Entries& entries, const CoarseColumns& from, CoarseColumns& to,
              const ColumnOf& column_of) {
  constexpr LocalIndex none = -1;
  std::vector<LocalIndex> numbers(static_cast<std::size_t>(from.count()), none);
  for (auto& entry : entries) {
    LocalIndex& column = column_of(entry);
    LocalIndex& number = numbers[static_cast<std::size_t>(column)];
    if (number == none) number = to.meet(from.global(column));
    column = number;
  }
}

}  // namespace

GalerkinProduct collective_multiply_galerkin(Crew& crew, const LevelMatrix& level,
                                             const CouplingRows<float>& prolongator,
                                             const spmv::RowPartition& roots,
                                             const spmv::RowPartition& coarse,
                                             CoarseColumns& columns, int vector_count,
                                             bool makes_plan) {
  const auto block = static_cast<std::size_t>(vector_count);
  if (is_same(roots, coarse))
    return collective_multiply_here(crew, level, prolongator, coarse, columns, block, makes_plan);
  CoarseColumns columns_there(roots, crew.communicator().rank());
  CouplingRows<float> renumbered = prolongator;
  const auto column_of = [](Coupling<float>& entry) -> LocalIndex& { return entry.column; };
  renumber(renumbered.couplings, columns, columns_there, column_of);
  GalerkinProduct made =
      collective_multiply_here(crew, level, renumbered, roots, columns_there, block, makes_plan);
  for (EntryRows<LocalIndex>& rows : made.plan.columns)
    renumber(rows.couplings, columns_there, columns, std::identity{});
  const PageVector<FineRow> no_product(static_cast<std::size_t>(level.row_count()));
  const Foreign foreign =
      collective_exchange_rows(crew, level, prolongator, no_product, coarse, columns);
  return {collective_move_rows(crew, made.matrix, coarse),
          make_restriction(crew, level, prolongator, foreign, columns), std::move(made.plan)};
}

}  // namespace weft::solver::amg
