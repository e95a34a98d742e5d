#include "solver/spectrum/spectral_density.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/spectrum/chebyshev_moments.h"
#include "spmv/problems/random_numbers.h"

namespace weft::solver {
namespace {

/// Products of so many vectors cost least for each.
constexpr int best_width = 16;
/// Fewer vectors say little about their own spread.
constexpr std::size_t least_spread = 8;

/// Fills rows of the columns first … first + count - 1 of all vectors, those of a block of `width`
/// columns. Shape: x: [rows · width], row by row; the columns beyond `count` stay as they are.
struct BlockColumns {
  int first = 0;
  int count = 0;
  int width = 0;
};
using FillColumns = std::function<void(const BlockColumns& columns, std::size_t begin,
                                       std::int64_t rows, double* x)>;

/// Moments of several vectors.
struct MomentsOfVectors {
  std::vector<std::vector<double>> of;  // [vectors][moments]
  SpectralInterval interval;
  std::int64_t products = 0;
};

/// The narrowest block that takes `count` vectors, or the widest.
int fitting_width(int count, int widest) {
  int width = 1;
  while (width < count && width < widest) width *= 2;
  return width;
}

/// Makes the moments of `vectors` vectors in blocks. False if the interval does not hold the
/// spectrum. Collective.
bool collective_fill(spmv::SparseOperator& op, const DensityOptions& options, int vectors,
                     const FillColumns& fill, MomentsOfVectors& moments) {
  std::optional<ChebyshevMoments> block;
  moments.of.clear();
  for (int first = 0; first < vectors;) {
    const int width = fitting_width(vectors - first, block_width(options, vectors));
    const BlockColumns columns{
        .first = first, .count = std::min(width, vectors - first), .width = width};
    if (!block || block->width() != width) {
      block.reset();
      block.emplace(op, width, options.mode);
    }
    const std::int64_t before = block->product_count();
    const bool is_inside = block->collective_make(
        moments.interval, options.moments, [&](std::size_t begin, std::int64_t rows, double* x) {
          std::fill_n(x, rows * width, 0.0);
          fill(columns, begin, rows, x);
        });
    moments.products += block->product_count() - before;
    if (!is_inside) return false;
    for (int column = 0; column < columns.count; ++column)
      moments.of.push_back(block->moments(column));
    first += columns.count;
  }
  return true;
}

/// Moments in an interval that holds the spectrum: the widest one, if that which was found does
/// not.
MomentsOfVectors collective_moments(spmv::SparseOperator& op, const DensityOptions& options,
                                    int vectors, const FillColumns& fill, SpectrumReport& report) {
  MomentsOfVectors moments;
  moments.interval = collective_spectral_interval(op, options.mode);
  if (collective_fill(op, options, vectors, fill, moments)) return moments;
  report.is_widest = true;
  moments.interval = collective_widest_interval(op);
  if (!collective_fill(op, options, vectors, fill, moments))
    throw comm_thread::InputError(
        "found a matrix of which products grow beyond its norm; expected a symmetric one, of "
        "finite "
        "values");
  return moments;
}

/// The mean of what several vectors say, and its standard deviation, unless there is one.
struct Estimate {
  double mean = 0;
  double deviation = 0;
};
Estimate estimate_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Estimate estimate;
  for (const double value : values) estimate.mean += value;
  estimate.mean /= count;
  double squares = 0;
  for (const double value : values) squares += (value - estimate.mean) * (value - estimate.mean);
  if (values.size() > 1) estimate.deviation = std::sqrt(squares / (count - 1) / count);
  return estimate;
}

std::vector<double> mean_of(const std::vector<std::vector<double>>& moments) {
  std::vector<double> means;
  std::vector<double> values;
  for (std::size_t m = 0; m < moments.front().size(); ++m) {
    values.clear();
    for (const std::vector<double>& of_one : moments) values.push_back(of_one[m]);
    means.push_back(estimate_of(values).mean);
  }
  return means;
}

void multiply_by_kernel(const DensityOptions& options, std::vector<std::vector<double>>& moments) {
  const std::vector<double> factors =
      kernel_factors(options.kernel, options.lambda, options.moments);
  for (std::vector<double>& of_one : moments)
    for (std::size_t m = 0; m < of_one.size(); ++m) of_one[m] *= factors[m];
}

/// `smooth`: moments times the factors of the kernel.
EigenvalueCount count_in(const EnergyRange& range, const DensityOptions& options,
                         const SpectralInterval& interval,
                         const std::vector<std::vector<double>>& smooth) {
  std::vector<double> integrals;
  for (const std::vector<double>& of_one : smooth)
    integrals.push_back(density_integral(of_one, interval, range.begin, range.end));
  const Estimate estimate = estimate_of(integrals);
  EigenvalueCount count{.begin = range.begin, .end = range.end, .value = estimate.mean};
  const double at_most =
      std::sqrt(2 * std::max(0.0, count.value) / static_cast<double>(smooth.size()));
  count.random_error = smooth.size() < least_spread ? at_most : estimate.deviation;
  for (const double end : {range.begin, range.end}) {
    if (end <= interval.least || end >= interval.greatest) continue;
    const std::vector<double> here{end};
    const double density = estimate_of(densities(smooth, interval, here).front()).mean;
    // A Gaussian peak beyond the end has at most as much within as it has there, times this.
    count.blur += std::sqrt(std::numbers::pi / 2) * std::max(0.0, density) *
                  kernel_width(options.kernel, options.lambda, options.moments, interval, end);
  }
  return count;
}

/// Fills in what moments say.
void describe(const DensityOptions& options, MomentsOfVectors moments, SpectrumReport& report) {
  report.interval = moments.interval;
  report.products = moments.products;
  report.moments = mean_of(moments.of);
  report.resolution = kernel_width(options.kernel, options.lambda, options.moments,
                                   moments.interval, moments.interval.center());
  multiply_by_kernel(options, moments.of);
  report.smooth_moments = mean_of(moments.of);
  report.energies =
      even_places(moments.interval, options.points > 0 ? options.points : 2 * options.moments);
  for (const std::vector<double>& of_vectors :
       densities(moments.of, moments.interval, report.energies)) {
    const Estimate estimate = estimate_of(of_vectors);
    report.density.push_back(estimate.mean);
    if (of_vectors.size() > 1) report.error.push_back(estimate.deviation);
  }
  if (options.counted)
    report.count = count_in(*options.counted, options, moments.interval, moments.of);
}

/// Fills columns with ±1.
void fill_with_signs(const spmv::SparseOperator& op, std::uint64_t seed,
                     const BlockColumns& columns, std::size_t begin, std::int64_t rows, double* x) {
  for (int column = 0; column < columns.count; ++column) {
    const std::uint64_t of_column = spmv::random_bits(seed, columns.first + column);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto global = op.global_row(begin + static_cast<std::size_t>(row));
      x[row * columns.width + column] =
          spmv::random_bits(of_column, global) >> 63 == 0 ? 1.0 : -1.0;
    }
  }
}

}  // namespace

int block_width(const DensityOptions& options, int vectors) {
  return fitting_width(vectors, options.width > 0 ? options.width : best_width);
}

namespace {

/// A power of two by which `w` becomes about as large as `v`; 1 if one of them vanishes.
double balance(const comm_thread::Communicator& ranks, std::span<const double> v,
               std::span<const double> w) {
  const auto largest = [&](std::span<const double> vector) {
    double most = 0;
    for (const double entry : vector) most = std::max(most, std::abs(entry));
    return ranks.max(most);
  };
  const double of_v = largest(v);
  const double of_w = largest(w);
  if (!(of_v > 0 && of_w > 0 && std::isfinite(of_v) && std::isfinite(of_w))) return 1;
  constexpr int most_exponent = 500;
  return std::ldexp(1.0,
                    std::clamp(std::ilogb(of_v) - std::ilogb(of_w), -most_exponent, most_exponent));
}

/// What is left of both sums and differences: the moments of ⟨v|…|w⟩.
std::vector<double> of_both(const std::vector<std::vector<double>>& moments, double scale) {
  std::vector<double> mixed;
  for (std::size_t m = 0; m < moments[0].size(); ++m)
    mixed.push_back((moments[0][m] - moments[1][m]) / 4 / scale);
  return mixed;
}

}  // namespace

SpectrumReport collective_spectral_function(spmv::SparseOperator& op, const DensityOptions& options,
                                            std::span<const double> v,
                                            std::optional<std::span<const double>> w) {
  const perfmodel::Stopwatch watch;
  SpectrumReport report;
  const int vectors = w ? 2 : 1;
  report.width = block_width(options, vectors);
  const double scale = w ? balance(op.communicator(), v, *w) : 1.0;
  const FillColumns fill = [&](const BlockColumns& columns, std::size_t begin, std::int64_t rows,
                               double* x) {
    for (int column = 0; column < columns.count; ++column) {
      const double factor = columns.first + column == 0 ? scale : -scale;
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::size_t at = begin + static_cast<std::size_t>(row);
        x[row * columns.width + column] = w ? v[at] + factor * (*w)[at] : v[at];
      }
    }
  };
  MomentsOfVectors moments = collective_moments(op, options, vectors, fill, report);
  if (w) moments.of = {of_both(moments.of, scale)};
  describe(options, std::move(moments), report);
  if (report.count) report.count->random_error = 0;
  report.seconds = watch.seconds();
  return report;
}

SpectrumReport collective_spectral_density(spmv::SparseOperator& op,
                                           const DensityOptions& options) {
  const perfmodel::Stopwatch watch;
  SpectrumReport report;
  report.width = block_width(options, options.vectors);
  const FillColumns fill = [&](const BlockColumns& columns, std::size_t begin, std::int64_t rows,
                               double* x) {
    fill_with_signs(op, options.seed, columns, begin, rows, x);
  };
  describe(options, collective_moments(op, options, options.vectors, fill, report), report);
  report.seconds = watch.seconds();
  return report;
}

}  // namespace weft::solver
