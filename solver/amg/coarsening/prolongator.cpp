#include "solver/amg/coarsening/prolongator.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "solver/amg/coarsening/row_accumulator.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr LocalIndex no_column = -1;
constexpr LocalIndex not_met = -2;

/// A row in a message is a head, whose `column` counts the entries that follow.
struct SentWeight {
  GlobalIndex column;
  float value;
};

/// Rows of P while they are made.
class RowMaker {
 public:
  explicit RowMaker(CouplingRows<float>& rows) : rows_(rows) {}

  void add(LocalIndex column, double weight) {
    if (column == no_column) return;
    for (auto& [sum, place] : sums_)
      if (place == column) {
        sum += weight;
        return;
      }
    sums_.push_back({weight, column});
  }
  void end_row() {
    for (const auto& [sum, column] : sums_)
      if (const auto value = static_cast<float>(sum); value != 0)
        rows_.couplings.push_back({value, column});
    rows_.end_row();
    sums_.clear();
  }

 private:
  CouplingRows<float>& rows_;
  std::vector<Coupling<double>> sums_;  // a few
};

/// The rows of P in the halo of A.
void collective_fetch_halo(const comm_thread::Crew& crew, const LevelMatrix& level,
                           CoarseColumns& columns, CouplingRows<float>& rows) {
  comm_thread::Lists<SentWeight> lists;
  for (const auto& neighbour : level.plan.neighbours) {
    std::vector<SentWeight>& entries = lists[neighbour.rank];
    for (std::int64_t i = neighbour.send_begin; i < neighbour.send_begin + neighbour.send_count;
         ++i) {
      const auto row =
          rows.row(static_cast<std::size_t>(level.plan.send_list[static_cast<std::size_t>(i)]));
      entries.push_back({std::ssize(row), 0});
      for (const auto& [value, column] : row) entries.push_back({columns.global(column), value});
    }
  }
  // In the order of the halo: neighbours have ascending ranks.
  for (const auto& [source, entries] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(lists)))
    for (std::size_t i = 0; i < entries.size();) {
      const auto end = i + 1 + static_cast<std::size_t>(entries[i].column);
      for (++i; i < end; ++i)
        rows.couplings.push_back({entries[i].value, columns.meet(entries[i].column)});
      rows.end_row();
    }
}

/// The local number of the aggregate of each own row and each row of the halo, or no_column.
perfmodel::PageVector<LocalIndex> number_aggregates(const comm_thread::Crew& crew,
                                                    const LevelMatrix& level,
                                                    const Aggregates& aggregates,
                                                    CoarseColumns& columns) {
  const auto row_count = static_cast<std::size_t>(level.row_count());
  const GlobalIndex first = aggregates.partition().begin(level.matrix.rank);
  perfmodel::PageVector<LocalIndex> numbers(row_count +
                                            static_cast<std::size_t>(level.plan.halo_count));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (auto row = static_cast<std::size_t>(level.thread_rows[index]);
         row < static_cast<std::size_t>(level.thread_rows[index + 1]); ++row) {
      const GlobalIndex number = aggregates.of(row);
      const bool is_own = number >= first && number < first + columns.own_count();
      numbers[row] = number == Aggregates::none ? no_column
                     : is_own                   ? static_cast<LocalIndex>(number - first)
                                                : not_met;
    }
  });
  // Those of other ranks get theirs in the order in which they are met.
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (row < row_count && numbers[row] != not_met) continue;
    const GlobalIndex number = aggregates.of(row);
    numbers[row] = number == Aggregates::none ? no_column : columns.meet(number);
  }
  return numbers;
}

}  // namespace

CouplingRows<float> collective_build_prolongator(const comm_thread::Crew& crew,
                                                 const LevelMatrix& level, const StrongRows& strong,
                                                 const Aggregates& aggregates, double factor,
                                                 CoarseColumns& columns, const Chains* chains) {
  const auto row_count = static_cast<std::size_t>(level.row_count());
  const perfmodel::PageVector<LocalIndex> aggregate_of =
      number_aggregates(crew, level, aggregates, columns);
  // A chain may reach beyond the halo: its roots get their numbers before the threads need them.
  const bool may_reach_others = chains && crew.communicator().size() > 1;
  for (std::size_t row = 0; may_reach_others && row < row_count; ++row)
    if (chains->is_link(row))
      for (const auto& [aggregate, value] : chains->weights(row))
        if (aggregate != Aggregates::none) columns.meet(aggregate);
  std::vector<CouplingRows<float>> parts(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    RowMaker maker(parts[index]);
    std::size_t most = 0;
    for (LocalIndex row = level.thread_rows[index]; row < level.thread_rows[index + 1]; ++row)
      most += static_cast<std::size_t>(strong.couplings(static_cast<std::size_t>(row)).size()) + 1;
    parts[index].reserve(
        static_cast<std::size_t>(level.thread_rows[index + 1] - level.thread_rows[index]), most);
    for (auto row = static_cast<std::size_t>(level.thread_rows[index]);
         row < static_cast<std::size_t>(level.thread_rows[index + 1]); ++row) {
      const LocalIndex own = aggregate_of[row];
      if (chains && chains->is_link(row)) {
        for (const auto& [aggregate, value] : chains->weights(row))
          if (aggregate != Aggregates::none)
            maker.add(columns.meet(aggregate), static_cast<double>(value));
      } else if (chains && chains->is_root(row)) {
        maker.add(own, 1);
      } else if (own != no_column) {
        // A diagonal that is not positive comes of rounding: such a row is not smoothed.
        const double diagonal = strong.diagonal(row);
        const double share = diagonal > 0 ? factor : 0;
        const double scale = diagonal > 0 ? -factor / diagonal : 0;
        maker.add(own, 1 - share);
        for (const auto& [value, column] : strong.couplings(row))
          maker.add(aggregate_of[static_cast<std::size_t>(column)], scale * value);
      }
      maker.end_row();
    }
  });
  CouplingRows<float> rows =
      join(crew.team(), std::move(parts), static_cast<std::size_t>(level.plan.halo_count));
  collective_fetch_halo(crew, level, columns, rows);
  return rows;
}

CouplingRows<float> collective_smooth_prolongator(const comm_thread::Crew& crew,
                                                  const LevelMatrix& level,
                                                  CouplingRows<float> tentative, double factor,
                                                  CoarseColumns& columns, int vector_count) {
  const auto block = static_cast<std::size_t>(vector_count);
  const auto row_count = static_cast<std::size_t>(level.row_count());
  tentative.begin.reserve(row_count + static_cast<std::size_t>(level.plan.halo_count) + 1);
  collective_fetch_halo(crew, level, columns, tentative);
  const spmv::CrsMatrix& a = level.matrix.rows;
  std::vector<CouplingRows<float>> parts(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    RowAccumulator sums(columns.count());
    CouplingRows<float>& part = parts[index];
    for (auto row = static_cast<std::size_t>(level.thread_rows[index]);
         row < static_cast<std::size_t>(level.thread_rows[index + 1]); ++row) {
      const auto begin = static_cast<std::size_t>(a.row_offsets[row]);
      const auto end = static_cast<std::size_t>(a.row_offsets[row + 1]);
      double diagonal = 0;
      for (std::size_t k = begin; k < end; ++k)
        if (static_cast<std::size_t>(a.columns[k]) == row) diagonal = a.values[k];
      sums.add_row(tentative.row(row), 1, block);
      if (diagonal > 0)
        for (std::size_t k = begin; k < end; ++k)
          sums.add_row(tentative.row(static_cast<std::size_t>(a.columns[k])),
                       -factor / diagonal * a.values[k], block);
      for (const auto& [sum, column] : sums.open_row())
        part.couplings.push_back({static_cast<float>(sum), column});
      part.end_row();
      sums.drop_row();
    }
  });
  CouplingRows<float> rows =
      join(crew.team(), std::move(parts), static_cast<std::size_t>(level.plan.halo_count));
  collective_fetch_halo(crew, level, columns, rows);
  return rows;
}

}  // namespace weft::solver::amg
