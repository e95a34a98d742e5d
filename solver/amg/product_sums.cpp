#include "solver/amg/product_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/simd.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;

/// The largest absolute value; infinite where one is not finite. Several maxima at once hide the
/// latency of a comparison.
double largest_of(std::span<const double> values) {
  constexpr std::size_t width = 8;
  std::array<double, width> most{};
  const auto take = [&](double& own, double value) {
    const double size = std::abs(value);
    own = own < size ? size : own;
  };
  const std::size_t whole = values.size() / width * width;
  for (std::size_t i = 0; i < whole; i += width)
    for (std::size_t k = 0; k < width; ++k) take(most[k], values[i + k]);
  for (const double value : values.subspan(whole)) take(most[0], value);
  bool is_finite = true;
  for (const double value : values)
    is_finite &= std::abs(value) <= std::numeric_limits<double>::max();
  return is_finite ? std::ranges::max(most) : std::numeric_limits<double>::infinity();
}

}  // namespace

ProductSums::ProductSums(const comm_thread::Crew& crew)
    : crew_(crew),
      sums_(crew.communicator(), crew.comm_thread(), crew.team().thread_count(),
            static_cast<int>(most_sums)) {}

std::array<double, ProductSums::most_sums> ProductSums::collective_add(
    std::span<const double* const> vectors, std::size_t count, std::span<const Pair> pairs) {
  const std::vector<double> largest = collective_largest(vectors, count);
  std::array<double, most_sums> results{};
  if (!std::ranges::all_of(largest, [](double size) { return std::isfinite(size); })) {
    results.fill(std::numeric_limits<double>::quiet_NaN());
    return results;
  }
  crew_.team().run([&](const TeamThread& thread) {
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(count), thread.index, thread.count);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto [one, other] = pairs[p];
      spmv::BinnedSum sum(largest[one] * largest[other]);
      spmv::add_terms(sum, share.end - share.begin,
                      [a = vectors[one] + share.begin,
                       b = vectors[other] + share.begin]<class Value>(std::ptrdiff_t i) {
                        return perfmodel::load<Value>(a + i) * perfmodel::load<Value>(b + i);
                      });
      sum.flush(sums_.part(thread.index, static_cast<int>(p)));
    }
    sums_.collective_reduce(thread);
  });
  for (std::size_t p = 0; p < pairs.size(); ++p) results[p] = sums_.result(static_cast<int>(p));
  return results;
}

/// The largest absolute entry of each vector; infinite for one that is not a number.
std::vector<double> ProductSums::collective_largest(std::span<const double* const> vectors,
                                                    std::size_t count) const {
  std::vector<std::vector<double>> of_threads(
      static_cast<std::size_t>(crew_.team().thread_count()));
  crew_.team().run([&](const TeamThread& thread) {
    const auto share =
        comm_thread::share_of(static_cast<std::int64_t>(count), thread.index, thread.count);
    for (const double* const v : vectors)
      of_threads[static_cast<std::size_t>(thread.index)].push_back(
          largest_of({v + share.begin, v + share.end}));
  });
  std::vector<double> largest(vectors.size());
  for (const std::vector<double>& of_thread : of_threads)
    for (std::size_t i = 0; i < largest.size(); ++i)
      largest[i] = std::max(largest[i], of_thread[i]);
  crew_.communicator().max(largest);
  return largest;
}

}  // namespace weft::solver::amg
