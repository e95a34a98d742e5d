#include "solver/precondition/inverse_diagonal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

using spmv::Segment;

/// Throws comm_thread::InputError where the diagonal has a zero.
void check(const spmv::LinearOperator& op, std::span<const double> diagonal,
           const std::string& method) {
  for (int thread = 0; thread < op.team().thread_count(); ++thread)
    for (const Segment& segment : op.segments(thread))
      for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
        if (diagonal[segment.begin + i] == 0)
          throw comm_thread::InputError(
              "row " + std::to_string(op.global_row(segment.begin + i) + 1) +
              " has a zero on the diagonal; expected none, because " + method + " divides by it");
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
    for (const Segment& segment : op.segments(thread.index))
      for (std::size_t i = segment.begin;
           i < segment.begin + static_cast<std::size_t>(segment.count); ++i)
        inverse[i] = numerator / diagonal[i];
  });
  return inverse;
}

double collective_largest(const spmv::LinearOperator& op, std::span<const double> values) {
  double largest = 0;
  for (int thread = 0; thread < op.team().thread_count(); ++thread)
    for (const Segment& segment : op.segments(thread))
      for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
        largest = std::max(largest, std::abs(values[segment.begin + i]));
  return op.communicator().max(largest);
}

}  // namespace weft::solver
