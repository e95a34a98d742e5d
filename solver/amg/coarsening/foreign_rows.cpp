#include "solver/amg/coarsening/foreign_rows.h"

#include <cstdint>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::solver::amg {
namespace {

using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Fine rows in a message: a head with the row and how many entries of P and of A·P follow.
struct SentEntry {
  GlobalIndex column;  // of a head: the row
  double value;
  std::int32_t transposed_count;
  std::int32_t product_count;
};

}  // namespace

Foreign collective_exchange_rows(Crew& crew, const LevelMatrix& level,
                                 const CouplingRows<float>& prolongator,
                                 const PageVector<FineRow>& product,
                                 const spmv::RowPartition& coarse, CoarseColumns& columns) {
  Foreign foreign;
  std::map<int, std::vector<SentEntry>> outgoing;
  for (std::size_t row = 0; row < product.size(); ++row) {
    std::map<int, std::vector<Coupling<float>>> by_owner;
    for (const auto& coupling : prolongator.row(row))
      if (!columns.is_own(coupling.column))
        by_owner[coarse.owner(columns.global(coupling.column))].push_back(coupling);
    for (const auto& [owner, transposed] : by_owner) {
      foreign.sent[owner].push_back(static_cast<LocalIndex>(row));
      auto& entries = outgoing[owner];
      entries.push_back({level.matrix.first_row() + static_cast<GlobalIndex>(row), 0,
                         static_cast<std::int32_t>(transposed.size()),
                         static_cast<std::int32_t>(product[row].size())});
      for (const auto& [value, column] : transposed)
        entries.push_back({columns.global(column), static_cast<double>(value), 0, 0});
      for (const auto& [value, column] : product[row])
        entries.push_back({columns.global(column), value, 0, 0});
    }
  }
  std::map<int, comm_thread::Bytes> messages;
  for (const auto& [owner, entries] : outgoing) messages[owner] = comm_thread::to_bytes(entries);
  // Ascending ranks, and each sends its rows in order: all rows are in order.
  for (const auto& [source, bytes] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(messages))) {
    const auto entries = comm_thread::from_bytes<SentEntry>(bytes);
    for (std::size_t i = 0; i < entries.size();) {
      const SentEntry head = entries[i++];
      ForeignRow& row = foreign.rows.emplace_back();
      row.row = head.column;
      row.owner = source;
      for (std::int32_t k = 0; k < head.transposed_count; ++k, ++i)
        row.transposed.push_back(
            {static_cast<float>(entries[i].value), columns.meet(entries[i].column)});
      row.product_begin = foreign.product.size();
      for (std::int32_t k = 0; k < head.product_count; ++k, ++i)
        foreign.product.push_back({entries[i].value, columns.meet(entries[i].column)});
      row.product_end = foreign.product.size();
    }
  }
  return foreign;
}

spmv::HaloPlan plan_of(const Foreign& foreign) {
  std::map<int, comm_thread::HaloNeighbour> neighbours;
  spmv::HaloPlan plan;
  for (const ForeignRow& row : foreign.rows) {
    comm_thread::HaloNeighbour& neighbour = neighbours[row.owner];
    if (neighbour.receive_count++ == 0) neighbour.receive_begin = plan.halo_count;
    ++plan.halo_count;
  }
  for (const auto& [rank, rows] : foreign.sent) {
    neighbours[rank].send_begin = std::ssize(plan.send_list);
    neighbours[rank].send_count = std::ssize(rows);
    plan.send_list.insert(plan.send_list.end(), rows.begin(), rows.end());
  }
  for (auto& [rank, neighbour] : neighbours) {
    neighbour.rank = rank;
    plan.neighbours.push_back(neighbour);
  }
  return plan;
}

}  // namespace weft::solver::amg
