#include "solver/multigrid/cycle_spectrum.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/conjugate_gradient.h"
#include "spmv/problems/random_numbers.h"

namespace weft::solver {
namespace {

constexpr std::int64_t lanczos_steps = 12;
/// What is left of a residual below this is rounding, whose steps say nothing.
constexpr double least_residual = 1e-8;

constexpr double share_below = 0.9;
constexpr double share_above = 1.05;

constexpr std::uint64_t seed = 1;

/// A symmetric tridiagonal matrix.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // [diagonal.size() - 1]

  /// Eigenvalues below `value`, by Sylvester's law of inertia.
  std::size_t count_below(double value) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double square = i > 0 ? beside[i - 1] * beside[i - 1] : 0;
      pivot = diagonal[i] - value - (i > 0 ? square / pivot : 0);
      if (pivot == 0) pivot = std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  /// Eigenvalue number `index`, ascending from 0, by bisection.
  double eigenvalue(std::size_t index) const {
    double high = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double after = i < beside.size() ? std::abs(beside[i]) : 0;
      const double before = i > 0 ? std::abs(beside[i - 1]) : 0;
      high = std::fmax(high, diagonal[i] + before + after);
    }
    double low = 0;  // the matrix is positive definite
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (count_below(middle) > index ? high : low) = middle;
    }
    return (low + high) / 2;
  }
};

}  // namespace

SpectrumBounds collective_spectrum_bounds(spmv::LinearOperator& op, spmv::Mode mode,
                                          MultigridPreconditioner& m) {
  if (m.least_eigenvalue()) return {*m.least_eigenvalue(), 1};
  perfmodel::HugePageBuffer<double> b(op.element_count());
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_element(thread.index,
                        [&](std::size_t i) { b[i] = spmv::uniform(seed, op.global_row(i)) - 0.5; });
  });
  Tridiagonal lanczos;
  double carried = 0;  // β/α of the step before
  KrylovMethod::Options options{
      .mode = mode,
      .preconditioner = &m,
      .stop = {.tolerance = least_residual, .max_iterations = lanczos_steps},
      .on_iteration = {}};
  options.on_step = [&](double alpha, double beta) {
    lanczos.diagonal.push_back(1 / alpha + carried);
    carried = beta / alpha;
    lanczos.beside.push_back(std::sqrt(beta) / alpha);
  };
  ConjugateGradient(op, options).solve(b.span());
  if (lanczos.diagonal.empty()) return {0.5, 1};  // nothing to solve
  lanczos.beside.pop_back();
  return {share_below * lanczos.eigenvalue(0),
          share_above * lanczos.eigenvalue(lanczos.diagonal.size() - 1)};
}

}  // namespace weft::solver
