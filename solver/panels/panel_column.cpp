#include "solver/panels/panel_column.h"

#include <cmath>
#include <cstddef>

#include "comm_thread/mpi/communicator.h"

namespace weft::solver {

std::vector<double> collective_signed_column(const spmv::LinearOperator& op, const double* panel,
                                             int width, int column, double factor) {
  std::vector<double> vector(op.element_count());
  double largest = 0;
  for (std::size_t row = 0; row < vector.size(); ++row) {
    vector[row] =
        factor * panel[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)];
    if (std::abs(vector[row]) > std::abs(largest)) largest = vector[row];
  }
  const comm_thread::Communicator& ranks = op.communicator();
  const double of_all = ranks.max(std::abs(largest));
  const int first = -static_cast<int>(ranks.max(std::abs(largest) == of_all
                                                    ? -static_cast<double>(ranks.rank())
                                                    : -static_cast<double>(ranks.size())));
  const double sign = ranks.sum(ranks.rank() == first && largest < 0 ? 1.0 : 0.0);
  if (sign > 0)
    for (double& entry : vector) entry = -entry;
  return vector;
}

}  // namespace weft::solver
