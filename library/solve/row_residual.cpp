#include "library/solve/row_residual.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/mode.h"
#include "spmv/sums/block_dot.h"

namespace weft::library {

using comm_thread::TeamThread;

RowResidual::RowResidual(spmv::SparseOperator& op)
    : op_(op),
      operand_(op.collective_make_vector()),
      sum_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      product_(op.element_count()) {}

/// Forms A·x in `product_`, and calls work(row) for each row then, when the halo of x is there.
template <class Work>
void RowResidual::collective_multiply(std::span<const double> x, const Work& work) {
  perfmodel::PhaseTimer not_reported;
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t i) { operand_->values()[i] = x[i]; });
    op_.apply(thread, spmv::Mode::vector, *operand_, product_.data(), not_reported, {});
    thread.barrier();
    op_.for_each_element(thread.index, work);
  });
}

void RowResidual::collective_find(std::span<const double> b, std::span<const double> x,
                                  std::span<double> r) {
  collective_multiply(x, [&](std::size_t i) { r[i] = b[i] - product_[i]; });
}

void RowResidual::collective_find_magnitudes(std::span<const double> b, std::span<const double> x,
                                             std::span<double> sums) {
  const spmv::CrsMatrix& rows = op_.matrix().matrix().rows;
  collective_multiply(x, [&](std::size_t i) {
    double sum = std::abs(b[i]);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
      sum += std::abs(rows.values[k] * operand_->data()[rows.columns[k]]);
    sums[i] = sum;
  });
}

double RowResidual::collective_norm(std::span<const double> v, std::span<const double> factor) {
  double largest = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    product_[i] = factor.empty() ? v[i] : factor[i] * v[i];
    const double value = std::abs(product_[i]);
    largest = value > largest || std::isnan(value) ? value : largest;
    if (std::isnan(largest)) break;
  }
  // The largest of all ranks is the same on all, and not a number where one is not.
  const bool is_number = op_.communicator().max(std::int64_t{!std::isfinite(largest)}) == 0;
  if (!is_number) return std::numeric_limits<double>::infinity();
  largest = op_.communicator().max(largest);
  if (largest == 0) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  double square = 0;
  op_.team().run([&](const TeamThread& thread) {
    const std::int64_t size = op_.matrix().block_size();
    for (const spmv::Segment& segment : op_.segments(thread.index))
      for (std::int64_t i = 0; i < segment.count; i += size) {
        double* const begin = product_.data() + segment.begin + i;
        const std::int64_t count = std::min(size, segment.count - i);
        std::for_each(begin, begin + count,
                      [&](double& value) { value = std::ldexp(value, -exponent); });
        sum_.part(thread.index).add(spmv::block_dot(begin, begin, count));
      }
    sum_.collective_reduce(thread);
    if (thread.is_primary()) square = sum_.result();
  });
  return std::ldexp(std::sqrt(square), exponent);
}

}  // namespace weft::library
