#include "tests/support/serial_reference.h"

#include <utility>

#include "spmv/matrix/assembly.h"
#include "spmv/problems/generator.h"

namespace weft::tests {

using spmv::GlobalIndex;

std::vector<double> multiply(const ReferenceMatrix& matrix, std::span<const double> x) {
  std::vector<double> y(matrix.size(), 0.0);
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (const auto& [column, value] : matrix[row])
      y[row] += value * x[static_cast<std::size_t>(column)];
  return y;
}

ReferenceMatrix reference_matrix(const spmv::Problem& problem) {
  ReferenceMatrix matrix(static_cast<std::size_t>(problem.row_count()));
  visit_rows(
      problem, 0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        for (std::size_t i = 0; i < columns.size(); ++i)
          matrix[static_cast<std::size_t>(row)][columns[i]] = values[i];
      });
  return matrix;
}

spmv::DistributedMatrix collective_distribute(const comm_thread::Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const ReferenceMatrix& reference,
                                              spmv::RowPartition partition) {
  spmv::MatrixAssembly assembly(std::move(partition), communicator.rank());
  const auto for_own_entries = [&](const auto& work) {
    for (GlobalIndex row = assembly.first_row(); row < assembly.end_row(); ++row)
      for (const auto& [column, value] : reference[static_cast<std::size_t>(row)])
        work(row, column, value);
  };
  for_own_entries(
      [&](GlobalIndex row, GlobalIndex column, double) { assembly.count(row, column); });
  assembly.allocate(team);
  for_own_entries([&](GlobalIndex row, GlobalIndex column, double value) {
    assembly.insert(row, column, value);
  });
  return std::move(assembly).collective_finish(communicator, team);
}

}  // namespace weft::tests
