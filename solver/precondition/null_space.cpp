#include "solver/precondition/null_space.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/mode.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// ‖A·n‖ above this share of ‖A‖·‖n‖ is not rounding.
constexpr double most_defect = 1e-8;

}  // namespace

NullSpace::NullSpace(spmv::SparseOperator& op, std::span<const double> vector)
    : op_(op),
      sum_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      direction_(op.element_count()) {
  op.team().run([&](const TeamThread& thread) {
    op.for_each_element(thread.index,
                        [&](std::size_t i) { direction_[i] = vector.empty() ? 1 : vector[i]; });
  });
  const double length = collective_norm(direction_.span());
  if (!(length > 0) || !std::isfinite(length))
    throw comm_thread::InputError(
        fmt::format("found a vector of length {:g}; expected another one", length));
  const auto operand = op.collective_make_vector();
  perfmodel::HugePageBuffer<double> product(op.element_count());
  perfmodel::PhaseTimer timer;
  op.team().run([&](const TeamThread& thread) {
    op.for_each_element(thread.index, [&](std::size_t i) {
      direction_[i] /= length;
      operand->values()[i] = direction_[i];
    });
    op.apply(thread, spmv::Mode::vector, *operand, product.data(), timer, {});
  });
  const double defect = collective_norm(product.span());
  const double norm = op.collective_norm();
  if (!(defect <= most_defect * norm))
    throw comm_thread::InputError(fmt::format(
        "A times this vector is {:.2g} of what A may make of it; expected 0", defect / norm));
}

/// Row blocks, whose sums are added without rounding. Every thread.
double NullSpace::collective_dot(const TeamThread& thread, const double* a, const double* b) {
  const std::int64_t size = op_.matrix().block_size();
  for (const spmv::Segment& segment : op_.segments(thread.index))
    for (std::int64_t i = 0; i < segment.count; i += size) {
      const std::size_t begin = segment.begin + static_cast<std::size_t>(i);
      sum_.part(thread.index)
          .add(spmv::block_dot(a + begin, b + begin, std::min(size, segment.count - i)));
    }
  sum_.collective_reduce(thread);
  return sum_.result();
}

double NullSpace::collective_project(const TeamThread& thread, double* v) {
  const double share = collective_dot(thread, direction_.data(), v);
  op_.for_each_element(thread.index, [&](std::size_t i) { v[i] -= share * direction_[i]; });
  thread.barrier();
  return share;
}

double NullSpace::collective_norm(std::span<const double> v) {
  double square = 0;
  op_.team().run([&](const TeamThread& thread) {
    const double own = collective_dot(thread, v.data(), v.data());
    if (thread.is_primary()) square = own;
  });
  return std::sqrt(square);
}

void DeflatedPreconditioner::apply(const TeamThread& thread, const double* r, double* z) {
  if (inner_) {
    inner_->apply(thread, r, z);
  } else {
    null_space_.op().for_each_element(thread.index, [&](std::size_t i) { z[i] = r[i]; });
  }
  null_space_.collective_project(thread, z);
}

}  // namespace weft::solver
