#include "solver/amg/coarsening/galerkin.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/moved_rows.h"
#include "solver/amg/coarsening/product_rows.h"
#include "solver/amg/coarsening/product_window.h"
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
  const bool has_others = columns.count() > columns.own_count();
  for (std::size_t row = 0; has_others && row < made.size(); ++row)
    for (const PackedCoupling& coupling : made[row])
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

/// Rows of A·P that other ranks need, one after the other.
class SentProduct {
 public:
  SentProduct(const LevelMatrix& level, const CouplingRows<float>& prolongator,
              const CoarseColumns& columns, std::size_t block)
      : level_(level), prolongator_(prolongator), block_(block), sums_(columns.count()) {}

  FineRow row(std::size_t fine) {
    add_product_row(level_, prolongator_, fine,
                    [&](std::span<const Coupling<float>> row, double value) {
                      sums_.add_row(row, value, block_);
                    });
    row_.clear();
    for (const Coupling<double>& coupling : sums_.open_row()) row_.emplace_back(coupling);
    sums_.drop_row();
    return row_;
  }

 private:
  const LevelMatrix& level_;
  const CouplingRows<float>& prolongator_;
  std::size_t block_;
  RowAccumulator sums_;
  std::vector<PackedCoupling> row_;
};

/// R·(A·P), where `work(thread, sums, take)` adds up the rows of a thread in `sums` and calls
/// take(row) after each.
template <class Work>
MadeRows make_coarse_rows(const comm_thread::Crew& crew, std::size_t row_count,
                          const CoarseColumns& columns, const std::vector<LocalIndex>& places,
                          const Work& work) {
  MadeRows made{
      .blocks = std::vector<RowBlocks>(static_cast<std::size_t>(crew.team().thread_count())),
      .rows = perfmodel::PageVector<FineRow>(row_count)};
  crew.team().run([&](const TeamThread& thread) {
    RowAccumulator sums(columns.count());
    RowBlocks blocks;
    work(static_cast<std::size_t>(thread.index), sums,
         [&](std::size_t row) { made.rows[row] = blocks.add(sums.close_row(places)); });
    made.blocks[static_cast<std::size_t>(thread.index)] = std::move(blocks);
  });
  return made;
}

/// The fine rows of this rank that the coarse rows of each thread need.
std::vector<FineRange> ranges_of(const comm_thread::Crew& crew, const LevelMatrix& level,
                                 const CouplingRows<float>& restriction,
                                 const std::vector<LocalIndex>& thread_rows) {
  std::vector<FineRange> ranges(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    FineRange range;
    for (auto row = static_cast<std::size_t>(thread_rows[index]);
         row < static_cast<std::size_t>(thread_rows[index + 1]); ++row)
      for (const auto& [value, column] : restriction.row(row))
        if (column < level.row_count()) range.add(static_cast<std::size_t>(column));
    ranges[index] = range;
  });
  return ranges;
}

/// R·(A·P) with rows of A·P that exist while they are needed. A row that two threads need is made
/// by both.
MadeRows multiply_by_windows(const comm_thread::Crew& crew, const LevelMatrix& level,
                             const CouplingRows<float>& prolongator,
                             const CouplingRows<float>& restriction, const Foreign& foreign,
                             const CoarseColumns& columns, const std::vector<LocalIndex>& places,
                             const std::vector<LocalIndex>& thread_rows,
                             const std::vector<FineRange>& ranges, std::size_t block) {
  const auto own_count = static_cast<std::size_t>(level.row_count());
  return make_coarse_rows(
      crew, restriction.row_count(), columns, places,
      [&](std::size_t thread, RowAccumulator& sums, const auto& take) {
        const auto end = static_cast<std::size_t>(thread_rows[thread + 1]);
        ProductWindow window(level, prolongator, columns.count(), block, ranges[thread], end);
        const auto entries = std::span(restriction.couplings)
                                 .first(static_cast<std::size_t>(restriction.begin[end]));
        for (auto row = static_cast<std::size_t>(thread_rows[thread]); row < end; ++row) {
          for (auto k = static_cast<std::size_t>(restriction.begin[row]);
               k < static_cast<std::size_t>(restriction.begin[row + 1]); ++k) {
            window.fetch_ahead(entries, k);
            const auto fine = static_cast<std::size_t>(entries[k].column);
            sums.add_row(
                fine < own_count ? window.row(fine, row) : foreign.product.row(fine - own_count),
                static_cast<double>(entries[k].value), block);
          }
          take(row);
        }
      });
}

/// R·(A·P) with all rows of A·P, own ones and those of other ranks.
MadeRows multiply_whole(const comm_thread::Crew& crew,
                        const perfmodel::PageVector<FineRow>& product,
                        const CouplingRows<float>& restriction, const CoarseColumns& columns,
                        const std::vector<LocalIndex>& places,
                        const std::vector<LocalIndex>& thread_rows, std::size_t block) {
  return make_coarse_rows(
      crew, restriction.row_count(), columns, places,
      [&](std::size_t thread, RowAccumulator& sums, const auto& take) {
        visit_coarse_rows(
            restriction, product, static_cast<std::size_t>(thread_rows[thread]),
            static_cast<std::size_t>(thread_rows[thread + 1]),
            [&](const FineRow& row, double weight) { sums.add_row(row, weight, block); }, take);
      });
}

/// Threads that need more rows of A·P in all than this multiple of those that there are make them
/// together instead of by windows.
constexpr double most_rows_of_windows = 1.25;

/// The product where ranks keep the rows that they compute.
GalerkinProduct collective_multiply_here(const comm_thread::Crew& crew, const LevelMatrix& level,
                                         const CouplingRows<float>& prolongator,
                                         const spmv::RowPartition& coarse, CoarseColumns& columns,
                                         std::size_t block, bool keeps_product) {
  MadeRows product;
  if (keeps_product)
    product = multiply_prolongator(crew, level, prolongator, columns.count(), block);
  SentProduct sent(level, prolongator, columns, block);
  Foreign foreign = collective_exchange_rows(
      crew, level, prolongator,
      [&](std::size_t row) { return keeps_product ? product.rows[row] : sent.row(row); }, coarse,
      columns);
  Restriction restriction = make_restriction(crew, level, prolongator, foreign, columns);
  const std::vector<LocalIndex> places = columns.places();
  const std::vector<LocalIndex> thread_rows =
      spmv::cut_rows_for_threads(restriction.rows.begin, 1, crew.team().thread_count());
  const auto ranges = ranges_of(crew, level, restriction.rows, thread_rows);
  std::size_t of_windows = 0;
  for (const FineRange& range : ranges) of_windows += range.size();
  MadeRows made;
  if (!keeps_product && static_cast<double>(of_windows) <=
                            most_rows_of_windows * static_cast<double>(level.row_count())) {
    made = multiply_by_windows(crew, level, prolongator, restriction.rows, foreign, columns, places,
                               thread_rows, ranges, block);
  } else {
    if (!keeps_product)
      product = multiply_prolongator(crew, level, prolongator, columns.count(), block);
    for (std::size_t row = 0; row < foreign.rows.size(); ++row)
      product.rows.push_back(foreign.product.row(row));
    made =
        multiply_whole(crew, product.rows, restriction.rows, columns, places, thread_rows, block);
  }
  GalerkinProduct result{assemble(crew, coarse, thread_rows, made.rows, columns, places),
                         std::move(restriction)};
  if (!keeps_product) return result;
  product.rows.resize(static_cast<std::size_t>(level.row_count()));
  result.kept = {std::move(product), without_transposed(std::move(foreign))};
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
  Foreign foreign = collective_exchange_rows(
      crew, level, prolongator, [&](std::size_t row) { return own.rows[row]; }, coarse, columns);
  GalerkinProduct result{collective_move_rows(crew, made.matrix, coarse),
                         make_restriction(crew, level, prolongator, foreign, columns)};
  if (keeps_product) result.kept = {std::move(own), without_transposed(std::move(foreign))};
  return result;
}

}  // namespace weft::solver::amg
