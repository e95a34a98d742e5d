#include "solver/precondition/inverse_diagonal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

/// Throws comm_thread::InputError where the diagonal has a zero.
void check(const spmv::LinearOperator& op, std::span<const double> diagonal,
           const std::string& method) {
  op.for_each_element([&](std::size_t i) {
    if (diagonal[i] == 0)
      throw comm_thread::InputError("row " + std::to_string(op.global_row(i) + 1) +
                                    " has a zero on the diagonal; expected none, because " +
                                    method + " divides by it");
  });
}

}  // namespace

perfmodel::HugePageBuffer<double> collective_invert_diagonal(const spmv::LinearOperator& op,
                                                             double numerator,
                                                             const std::string& method) {
  std::vector<double> diagonal(op.element_count());
  comm_thread::collective_attempt(op.communicator(), [&] {
    op.copy_diagonal(diagonal);
    check(op, diagonal, method);
  });
  perfmodel::HugePageBuffer<double> inverse(diagonal.size());
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_element(thread.index, [&](std::size_t i) { inverse[i] = numerator / diagonal[i]; });
  });
  return inverse;
}

double collective_largest(const spmv::LinearOperator& op, std::span<const double> values) {
  double largest = 0;
  op.for_each_element([&](std::size_t i) { largest = std::max(largest, std::abs(values[i])); });
  return op.communicator().max(largest);
}

}  // namespace weft::solver
