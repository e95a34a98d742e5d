#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tests/support/serial_reference.h"

namespace weft::tests {

/// A small matrix as a table, in which `none` is no entry and 0 an explicit zero.
using DenseRows = std::vector<std::vector<double>>;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Dealt to the ranks in equal shares. Collective.
inline spmv::DistributedMatrix collective_deal(const comm_thread::Communicator& communicator,
                                               const comm_thread::ComputeTeam& team,
                                               const DenseRows& dense) {
  ReferenceMatrix rows(dense.size());
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t j = 0; j < dense[i].size(); ++j)
      if (!std::isnan(dense[i][j])) rows[i][static_cast<spmv::GlobalIndex>(j)] = dense[i][j];
  const auto row_count = static_cast<spmv::GlobalIndex>(dense.size());
  return collective_distribute(communicator, team, rows,
                               spmv::RowPartition::by_rows(row_count, communicator.size()));
}

/// True if the rows of this rank are those of the table, each entry once.
inline bool has_rows_of(const spmv::DistributedMatrix& matrix, const DenseRows& dense) {
  std::size_t expected = 0;
  std::size_t found = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows.row_count); ++row) {
    const auto& wanted = dense[static_cast<std::size_t>(matrix.first_row()) + row];
    for (const double value : wanted) expected += std::isnan(value) ? 0 : 1;
    for (auto k = static_cast<std::size_t>(matrix.rows.row_offsets[row]);
         k < static_cast<std::size_t>(matrix.rows.row_offsets[row + 1]); ++k) {
      const auto column = static_cast<std::size_t>(matrix.global_column(matrix.rows.columns[k]));
      if (wanted[column] != matrix.rows.values[k]) return false;
      ++found;
    }
  }
  return found == expected;
}

}  // namespace weft::tests
