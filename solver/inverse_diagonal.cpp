#include "solver/inverse_diagonal.h"

#include <algorithm>
#include <vector>

#include "comm_thread/error_agreement.h"
#include "comm_thread/input_error.h"

namespace weft::solver {

perfmodel::HugePageBuffer<double> collective_invert_diagonal(const spmv::SparseOperator& op,
                                                             double numerator,
                                                             const std::string& method) {
  const spmv::SplitMatrix& matrix = op.matrix();
  const std::vector<double> diagonal = matrix.diagonal();
  comm_thread::collective_attempt(op.communicator(), [&] {
    const auto zero = std::find(diagonal.begin(), diagonal.end(), 0.0);
    if (zero == diagonal.end()) return;
    const auto row = matrix.matrix().first_row() + (zero - diagonal.begin()) + 1;
    throw comm_thread::InputError("row " + std::to_string(row) +
                                  " has a zero on the diagonal; expected none, because " + method +
                                  " divides by it");
  });
  perfmodel::HugePageBuffer<double> inverse(diagonal.size());
  op.team().run([&](const comm_thread::TeamThread& thread) {
    const auto cuts = matrix.thread_rows().subspan(static_cast<std::size_t>(thread.index), 2);
    for (auto row = static_cast<std::size_t>(cuts[0]); row < static_cast<std::size_t>(cuts[1]);
         ++row)
      inverse[row] = numerator / diagonal[row];
  });
  return inverse;
}

}  // namespace weft::solver
