#include "library/solve/hopeless_system.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::library {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();

bool has_zeros_only(const spmv::CrsMatrix& rows, std::size_t row) {
  const auto begin = static_cast<std::size_t>(rows.row_offsets[row]);
  const auto end = static_cast<std::size_t>(rows.row_offsets[row + 1]);
  return std::ranges::all_of(rows.values.span().subspan(begin, end - begin),
                             [](double value) { return value == 0; });
}

/// How many rows of zeros b is to be reached in, and the share of b there.
std::string collective_find_zero_rows(const FailedSolve& solve, double b_norm, double wanted) {
  const spmv::CrsMatrix& rows = solve.op.matrix().matrix().rows;
  std::vector<double> out_of_reach(solve.b.size());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < out_of_reach.size(); ++i) {
    if (solve.b[i] == 0 || !has_zeros_only(rows, i)) continue;
    out_of_reach[i] = solve.b[i];
    ++count;
  }
  count = solve.op.communicator().sum(count);
  if (count == 0) return "";
  const double norm = solve.residual.collective_norm(out_of_reach, solve.weights);
  if (!(norm > wanted)) return "";
  return fmt::format("{} row{} of the matrix with zeros only {} {:.2g} of b, which no x reaches",
                     count, count == 1 ? "" : "s", count == 1 ? "has" : "have", norm / b_norm);
}

/// Where less is asked for than double holds. Methods differ in how close they come.
std::string collective_find_rounding(const FailedSolve& solve, std::span<const double> r,
                                     double b_norm, double wanted) {
  constexpr double of_methods = 16;
  std::vector<double> sums(r.size());
  solve.residual.collective_find_magnitudes(solve.b, solve.x, sums);
  const double least = rounding * solve.residual.collective_norm(sums, solve.weights);
  const double norm = solve.residual.collective_norm(r, solve.weights);
  if (!(norm <= of_methods * least && wanted < least / 2)) return "";
  return fmt::format(
      "the residual of {:.2g} of b is what rounding leaves of b - A·x, whose terms are up to "
      "{:.2g} times b",
      norm / b_norm, least / rounding / b_norm);
}

/// Where x leaves the least residual of all: the rest of b lies in the null space.
std::string collective_find_null_vector(const FailedSolve& solve, std::span<const double> r,
                                        double b_norm) {
  constexpr double is_zero = 1e-12;
  if (!solve.is_symmetric) return "";
  const std::vector<double> none(r.size());
  std::vector<double> product(r.size());
  std::vector<double> sums(r.size());
  solve.residual.collective_find(none, r, product);
  solve.residual.collective_find_magnitudes(none, r, sums);
  const double left = solve.residual.collective_norm(product, {});
  if (!(left <= is_zero * solve.residual.collective_norm(sums, {}))) return "";
  return fmt::format(
      "{:.2g} of b lies in the null space of the matrix, where no x leads, and this x leaves the "
      "least residual",
      solve.residual.collective_norm(r, solve.weights) / b_norm);
}

}  // namespace

std::string collective_find_hopeless(const FailedSolve& solve, const solver::StopCriterion& stop) {
  const double b_norm = solve.residual.collective_norm(solve.b, solve.weights);
  if (!(b_norm > 0 && std::isfinite(b_norm))) return "";
  const double wanted = stop.wanted_norm(b_norm);
  std::string why = collective_find_zero_rows(solve, b_norm, wanted);
  if (!why.empty()) return why;
  std::vector<double> r(solve.b.size());
  solve.residual.collective_find(solve.b, solve.x, r);
  const double norm = solve.residual.collective_norm(r, solve.weights);
  if (!(norm > wanted && std::isfinite(norm))) return "";
  why = collective_find_rounding(solve, r, b_norm, wanted);
  return why.empty() ? collective_find_null_vector(solve, r, b_norm) : why;
}

}  // namespace weft::library
