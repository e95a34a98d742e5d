#include "solver/interior/spectral_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "solver/spectrum/kernel_polynomial.h"
#include "solver/spectrum/spectral_density.h"
#include "solver/spectrum/spectrum_report.h"

namespace weft::solver {
namespace {

constexpr int moment_count = 256;
constexpr int vector_count = 8;

}  // namespace

SpectralEstimate::SpectralEstimate(spmv::SparseOperator& op, spmv::Mode mode) {
  const DensityOptions options{
      .moments = moment_count, .vectors = vector_count, .points = 1, .mode = mode};
  const SpectrumReport report = collective_spectral_density(op, options);
  spectrum_ = report.interval;
  product_count_ = report.products;
  moments_ = report.moments;
  const std::vector<double> factors =
      kernel_factors(options.kernel, options.lambda, options.moments);
  for (std::size_t m = 0; m < moments_.size(); ++m) moments_[m] *= factors[m];
}

double SpectralEstimate::count(const EnergyRange& range) const {
  return std::max(0.0, density_integral(moments_, spectrum_, range.begin, range.end));
}

double SpectralEstimate::distance(double sigma, double count) const {
  double least = 0;
  double most = std::max(std::abs(spectrum_.greatest - sigma), std::abs(spectrum_.least - sigma));
  constexpr int halvings = 60;
  for (int step = 0; step < halvings; ++step) {
    const double middle = least + (most - least) / 2;
    (this->count({.begin = sigma - middle, .end = sigma + middle}) < count ? least : most) = middle;
  }
  return most;
}

}  // namespace weft::solver
