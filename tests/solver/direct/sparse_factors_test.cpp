// Factors of small matrices, against elimination.
#include <SuiteSparse_config.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/direct/cholmod_factor.h"
#include "solver/direct/incomplete_factor.h"
#include "solver/direct/klu_factor.h"
#include "solver/direct/local_matrix.h"

namespace weft::solver {
namespace {

using Dense = std::vector<std::vector<double>>;

LocalMatrix sparse(const Dense& a) {
  LocalMatrix matrix;
  for (const auto& row : a) {
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0) {
        matrix.columns.push_back(static_cast<int>(j));
        matrix.values.push_back(row[j]);
      }
    matrix.row_begin.push_back(static_cast<int>(matrix.columns.size()));
  }
  return matrix;
}

std::vector<double> multiply(const Dense& a, const std::vector<double>& x) {
  std::vector<double> y;
  for (const auto& row : a) {
    double sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * x[j];
    y.push_back(sum);
  }
  return y;
}

/// Tridiagonal and not symmetric.
Dense tridiagonal(std::size_t n) {
  Dense a(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    a[i][i] = 3 + 0.1 * static_cast<double>(i);
    if (i > 0) a[i][i - 1] = -1.5;
    if (i + 1 < n) a[i][i + 1] = -0.5;
  }
  return a;
}

const auto no_fault = [](int row, double /*entry*/, double /*pivot*/) {
  return "row " + std::to_string(row);
};

/// KLU and CHOLMOD find no memory while it lives.
class NoMemory {
 public:
  NoMemory() : before_(SuiteSparse_config.malloc_func) {
    SuiteSparse_config.malloc_func = [](std::size_t) -> void* { return nullptr; };
  }
  ~NoMemory() { SuiteSparse_config.malloc_func = before_; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  void* (*before_)(std::size_t);
};

}  // namespace

TEST_CASE("a factor for which there is not enough memory is not called indefinite") {
  const LowerTriangle vast{.size = std::size_t{1} << 40, .entries = {}};
  if (CholmodFactor::library_version().starts_with("missing")) return;
  CHECK_THROWS_WITH(CholmodFactor(vast, 1, "not definite"),
                    Catch::Contains("memory") && Catch::Contains("more subdomains"));
  CHECK(CholmodFactor::forecast_bytes(vast) == 0);
  const LowerTriangle indefinite{.size = 2, .entries = {{0, 0, 1}, {1, 0, 2}, {1, 1, 1}}};
  CHECK_THROWS_WITH(CholmodFactor(indefinite, 1, "not definite"), "not definite");
}

TEST_CASE("LU for which there is not enough memory is not called singular") {
  if (CholmodFactor::library_version().starts_with("missing")) return;
  const LocalMatrix matrix = sparse(tridiagonal(5));
  const NoMemory none;
  CHECK_THROWS_AS(KluFactor(matrix, "singular"), FactorTooLarge);
  CHECK_THROWS_WITH(KluFactor(matrix, "singular"),
                    Catch::Contains("memory") && Catch::Contains("more subdomains"));
}

TEST_CASE("LU solves what is not symmetric, with zeros on the diagonal") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    Dense a(12, std::vector<double>(12));
    for (std::size_t i = 0; i < 12; ++i) {
      a[i][(i * 5 + 1) % 12] = 4;  // a permutation without a fixed place on the diagonal
      for (int k = 0; k < 3; ++k) a[i][random() % 12] += 0.25 * static_cast<double>(random() % 4);
    }
    std::vector<double> b(12);
    for (double& value : b) value = static_cast<double>(random() % 9) - 4;
    KluFactor factor(sparse(a), "singular");
    const auto x = factor.solve(0, b);
    const std::vector<double> product = multiply(a, {x.begin(), x.end()});
    for (std::size_t i = 0; i < 12; ++i) CHECK(product[i] == Approx(b[i]).margin(1e-12));
  }
  Dense singular = tridiagonal(5);
  singular[3] = singular[2];
  CHECK_THROWS_WITH(KluFactor(sparse(singular), "singular"), "singular");
}

TEST_CASE("ILU(0) is exact where elimination fills nothing in") {
  const Dense a = tridiagonal(9);
  IncompleteFactor factor(sparse(a), no_fault);
  CHECK(factor.is_definite());
  std::vector<double> b{1, -2, 3, 0, 5, 1, 1, -7, 2};
  const auto x = factor.solve(0, b);
  const std::vector<double> product = multiply(a, {x.begin(), x.end()});
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(product[i] == Approx(b[i]).margin(1e-14));
}

TEST_CASE("ILU(0) has the entries of A in the pattern of A") {
  Dense a = tridiagonal(8);  // and what fills in: corners
  a[0][7] = -0.75;
  a[7][0] = -0.25;
  a[2][5] = 0.5;
  IncompleteFactor factor(sparse(a), no_fault);
  // L·U column by column: the inverse of what the factor solves with, by elimination.
  Dense inverse(8, std::vector<double>(8));
  for (std::size_t j = 0; j < 8; ++j) {
    std::vector<double> unit(8);
    unit[j] = 1;
    const auto x = factor.solve(0, unit);
    for (std::size_t i = 0; i < 8; ++i) inverse[i][j] = x[i];
  }
  for (std::size_t j = 0; j < 8; ++j) {
    KluFactor inverted(sparse(inverse), "singular");
    std::vector<double> unit(8);
    unit[j] = 1;
    const auto column = inverted.solve(0, unit);
    for (std::size_t i = 0; i < 8; ++i)
      if (a[i][j] != 0) CHECK(column[i] == Approx(a[i][j]));
  }
}

TEST_CASE("ILU(0) names the row of a zero pivot and sees a negative one") {
  Dense a = tridiagonal(5);
  a[3][3] = -9;
  CHECK(!IncompleteFactor(sparse(a), no_fault).is_definite());
  a[3][3] = 0;
  a[3][2] = 0;
  CHECK_THROWS_WITH(IncompleteFactor(sparse(a), no_fault), "row 3");
}

TEST_CASE("ILU(0) does not depend on the scale of rows and columns") {
  const Dense a = tridiagonal(6);
  std::vector<double> b{1, -2, 3, 0, 5, 1};
  IncompleteFactor unscaled(sparse(a), no_fault);
  const auto expected = unscaled.solve(0, b);
  Dense scaled = a;
  std::vector<double> scaled_b = b;
  const std::vector<double> row_scale{1, 0x1p-60, 0x1p70, 1, 0x1p-9, 0x1p100};
  const std::vector<double> column_scale{0x1p80, 1, 0x1p-70, 0x1p-100, 1, 0x1p90};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) scaled[i][j] *= row_scale[i] * column_scale[j];
    scaled_b[i] *= row_scale[i];
  }
  IncompleteFactor factor(sparse(scaled), no_fault);
  const auto found = factor.solve(0, scaled_b);
  for (std::size_t i = 0; i < 6; ++i) CHECK(found[i] * column_scale[i] == expected[i]);
}

TEST_CASE("ILU(0) refuses pivots of rounding alone, and those without a finite inverse") {
  CHECK_THROWS_WITH(IncompleteFactor(sparse({{3, 1}, {0.3, 0.1}}),
                                     [](int row, double entry, double pivot) {
                                       return std::to_string(row) + (entry == 0.1 ? " entry" : "") +
                                              (std::abs(pivot) < 1e-16 ? " pivot" : "");
                                     }),
                    "1 entry pivot");
  CHECK_THROWS_WITH(IncompleteFactor(sparse({{1e-310, 0}, {0, 1}}), no_fault), "row 0");
  CHECK_THROWS_WITH(IncompleteFactor(sparse({{1e-300, 1e10}, {1e10, 1}}), no_fault), "row 1");
}

TEST_CASE("a matrix knows whether it is symmetric, and its lower triangle") {
  Dense a = tridiagonal(4);
  CHECK(!is_symmetric(sparse(a)));
  for (std::size_t i = 1; i < 4; ++i) a[i - 1][i] = a[i][i - 1];
  CHECK(is_symmetric(sparse(a)));
  CHECK(lower_triangle(sparse(a)).entries.size() == 7);
  a[0][3] = 1;
  CHECK(!is_symmetric(sparse(a)));
}

}  // namespace weft::solver
