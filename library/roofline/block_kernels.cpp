#include "library/roofline/block_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "library/roofline/column_reload.h"
#include "library/roofline/crs_traffic.h"
#include "spmv/matrix/block_crs_kernel.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using spmv::CrsMatrix;
using spmv::LocalIndex;

constexpr std::array widths{2, 4, 8, 16};
constexpr double bytes_per_value = 8;

}  // namespace

BlockKernels::BlockKernels(const comm_thread::Job& job, spmv::SparseOperator& op,
                           double cache_bytes)
    : job_(job),
      op_(op),
      cache_bytes_(cache_bytes),
      x_(op.collective_make_vector(widths.back())),
      y_(op.element_count() * static_cast<std::size_t>(widths.back())) {
  job_.team().run([&](const TeamThread& thread) {
    const std::ptrdiff_t widest = widths.back();
    const auto cuts = op_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index));
    std::fill(x_->values() + cuts[0] * widest, x_->values() + cuts[1] * widest, 1.0);
    std::fill(y_.data() + cuts[0] * widest, y_.data() + cuts[1] * widest, 0.0);
  });
  std::ranges::fill(x_->halo(), 1.0);
  const CrsMatrix& rows = op.matrix().matrix().rows;
  rows_ = rows.row_count;
  nonzeros_ = nonzeros_in(rows, 0, rows.row_count);
  matrix_bytes_ = bytes_per_nonzero * nonzeros_ + 8 * rows_;
  const auto cuts = op.matrix().thread_rows();
  for (int thread = 0; thread < job.team().thread_count(); ++thread) {
    const auto* const numbers = op.matrix().numbered_values(thread);
    if (!numbers) continue;
    const auto first = static_cast<std::size_t>(thread);
    matrix_bytes_ += static_cast<double>(numbers->bytes()) -
                     bytes_per_value * nonzeros_in(rows, cuts[first], cuts[first + 1]);
  }
}

/// Bytes of X that one product of this rank's rows loads again.
double BlockKernels::reload_bytes(int width) const {
  const CrsMatrix& rows = op_.matrix().matrix().rows;
  std::vector<double> bytes(static_cast<std::size_t>(job_.team().thread_count()));
  job_.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const LocalIndex begin = op_.matrix().thread_rows()[index];
    const LocalIndex end = op_.matrix().thread_rows()[index + 1];
    bytes[index] = simulate_column_reload(rows, begin, end, x_->data(),
                                          static_cast<std::size_t>(cache_bytes_), width) *
                   nonzeros_in(rows, begin, end);
  });
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

RooflineKernel BlockKernels::kernel(int width) {
  RooflineKernel kernel;
  kernel.name = fmt::format("block-{}", width);
  kernel.what = fmt::format("Y = A X of {} vectors, CRS{}", width,
                            op_.matrix().numbered_values(0) ? ", numbered values" : "");
  kernel.memory = {matrix_bytes_ + 16 * width * rows_, 8 * width * rows_, 2 * width * nonzeros_};
  kernel.data_bytes = matrix_bytes_ + 16 * width * rows_;
  kernel.nonzeros = nonzeros_;
  kernel.width = width;
  kernel.reload_bytes = reload_bytes(width);
  kernel.run = [this, width](const TeamThread& thread) {
    const auto cuts = op_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index));
    const CrsMatrix& rows = op_.matrix().matrix().rows;
    double* const y = y_.data() + std::ptrdiff_t{cuts[0]} * width;
    if (const auto* const numbers = op_.matrix().numbered_values(thread.index))
      multiply_numbered_block(rows, *numbers, cuts[0], cuts[1], width, x_->data(), y);
    else
      multiply_crs_block(rows, cuts[0], cuts[1], width, x_->data(), y);
  };
  return kernel;
}

std::vector<RooflineKernel> BlockKernels::kernels() {
  std::vector<RooflineKernel> all;
  for (const int width : widths) all.push_back(kernel(width));
  return all;
}

std::string width_that_suits(const std::vector<KernelResult>& results) {
  constexpr double near = 1.05;
  const auto time_of_each = [](const KernelResult& result) {
    return result.seconds.median / result.width;
  };
  double least = std::numeric_limits<double>::infinity();
  for (const KernelResult& result : results)
    if (result.width > 1) least = std::min(least, time_of_each(result));
  const auto one = std::ranges::find(results, std::string("crs-local"), &KernelResult::name);
  for (const KernelResult& result : results)
    if (result.width > 1 && time_of_each(result) <= near * least)
      return fmt::format(
          "blocks of {} vectors suit: {:.3f} ms a vector{}, {:.2f} of the model with what is "
          "loaded of X again",
          result.width, 1e3 * time_of_each(result),
          one == results.end() ? ""
                               : fmt::format(", {:.1f} times as fast as one at a time",
                                             one->seconds.median / time_of_each(result)),
          result.reload_fraction);
  return {};
}

}  // namespace weft::library
