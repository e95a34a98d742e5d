#include "solver/sweepers/jacobi_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/precondition/inverse_diagonal.h"
#include "spmv/matrix/absolute_product.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// |M|x is computed to within about 1e-15 times the entries of a row.
constexpr double rounding = 1e-12;
/// Entries do not fall below: every positive vector gives bounds.
constexpr double smallest_entry = 1e-290;
constexpr double shift_fraction = 0.125;

struct Ratios {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = 0;
};

class PowerIteration {
 public:
  explicit PowerIteration(spmv::SparseOperator& op)
      : operator_(op),
        inverse_diagonal_(collective_invert_diagonal(op, 1, "Jacobi")),
        sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2),
        ratios_(static_cast<std::size_t>(op.team().thread_count())),
        x_(op.collective_make_vector()),
        product_(inverse_diagonal_.size()) {
    for_own_rows([&](std::size_t row) { x_->own()[row] = 1; });
  }

  /// |M|x, its bounds and x·|M|x/x·x.
  JacobiSpectrum collective_product() {
    operator_.team().run([&](const TeamThread& thread) {
      collective_refresh_halo(thread);
      multiply(thread);
      sums_.collective_reduce(thread);
    });
    Ratios all;
    for (const Ratios& ratios : ratios_) {
      all.lowest = std::min(all.lowest, ratios.lowest);
      all.highest = std::max(all.highest, ratios.highest);
    }
    return {sums_.result(0) / sums_.result(1), operator_.communicator().min(all.lowest),
            operator_.communicator().max(all.highest), 1};
  }

  /// x ← (|M|x + shift·x) / scale.
  void advance(double shift, double scale) {
    for_own_rows([&](std::size_t row) {
      double& x = x_->own()[row];
      x = std::max((product_[row] + shift * x) / scale, smallest_entry);
    });
  }

 private:
  template <class Work>
  void for_own_rows(const Work& work) {
    operator_.team().run([&](const TeamThread& thread) {
      const auto cuts = rows_of(thread);
      for (auto row = static_cast<std::size_t>(cuts[0]); row < static_cast<std::size_t>(cuts[1]);
           ++row)
        work(row);
    });
  }

  std::span<const spmv::LocalIndex> rows_of(const TeamThread& thread) const {
    return operator_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index), 2);
  }

  void collective_refresh_halo(const TeamThread& thread) {
    x_->pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && x_->exchange().has_neighbours())
      x_->exchange().post(operator_.comm_thread()).wait();
    thread.barrier();
  }

  void multiply(const TeamThread& thread) {
    const spmv::CrsMatrix& matrix = operator_.matrix().matrix().rows;
    const auto block_size = static_cast<spmv::LocalIndex>(operator_.matrix().block_size());
    const auto cuts = rows_of(thread);
    const double* const x = x_->data();
    Ratios ratios;
    for (spmv::LocalIndex row = cuts[0]; row < cuts[1]; row += block_size) {
      const spmv::LocalIndex end = std::min(row + block_size, cuts[1]);
      spmv::multiply_absolute_off_diagonal(matrix, row, end, x, product_.data());
      for (auto i = static_cast<std::size_t>(row); i < static_cast<std::size_t>(end); ++i) {
        product_[i] *= std::abs(inverse_diagonal_[i]);
        ratios.lowest = std::min(ratios.lowest, product_[i] / x[i]);
        ratios.highest = std::max(ratios.highest, product_[i] / x[i]);
      }
      sums_.part(thread.index, 0).add(spmv::block_dot(x + row, product_.data() + row, end - row));
      sums_.part(thread.index, 1).add(spmv::block_dot(x + row, x + row, end - row));
    }
    ratios_[static_cast<std::size_t>(thread.index)] = ratios;
  }

  spmv::SparseOperator& operator_;
  perfmodel::HugePageBuffer<double> inverse_diagonal_;
  comm_thread::ReproducibleSum sums_;  // x·|M|x, x·x
  std::vector<Ratios> ratios_;  // [thread_count]
  std::unique_ptr<spmv::HaloVector<double>> x_;
  perfmodel::HugePageBuffer<double> product_;  // |M|x
};

}  // namespace

const char* name(AsyncGuarantee guarantee) {
  switch (guarantee) {
    case AsyncGuarantee::guaranteed:
      return "guaranteed";
    case AsyncGuarantee::not_guaranteed:
      return "not guaranteed";
    case AsyncGuarantee::unknown:
      break;
  }
  return "unknown";
}

AsyncGuarantee JacobiSpectrum::async_guarantee() const {
  if (upper < 1 - rounding) return AsyncGuarantee::guaranteed;
  if (lower >= 1) return AsyncGuarantee::not_guaranteed;
  return AsyncGuarantee::unknown;
}

JacobiSpectrum collective_estimate_jacobi_spectrum(spmv::SparseOperator& op,
                                                   SpectrumOptions options) {
  PowerIteration iteration(op);
  JacobiSpectrum best;
  best.upper = std::numeric_limits<double>::infinity();
  do {
    const JacobiSpectrum now = iteration.collective_product();
    best.estimate = now.estimate;
    best.upper = std::min(best.upper, now.upper);
    best.lower = std::min(std::max(best.lower, now.lower), best.upper);
    ++best.iterations;
    const double shift = shift_fraction * best.upper;
    iteration.advance(shift, best.upper + shift);
  } while (best.iterations < options.max_iterations &&
           !(best.upper - best.lower <= options.accuracy * best.upper));
  best.estimate = std::clamp(best.estimate, best.lower, best.upper);
  return best;
}

}  // namespace weft::solver
