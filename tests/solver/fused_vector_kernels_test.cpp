#include "solver/fused_vector_kernels.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/block_dot.h"

namespace weft::solver {
namespace {

using Vector = std::vector<double>;

Vector make(std::int64_t count, double phase) {
  Vector vector;
  for (std::int64_t i = 0; i < count; ++i)
    vector.push_back(std::sin(phase + static_cast<double>(i)) *
                     std::exp(static_cast<double>(i % 5)));
  return vector;
}

double dot(const Vector& a, const Vector& b) {
  return spmv::block_dot(a.data(), b.data(), std::ssize(a));
}

/// Σ r_i·(d_i·r_i): the product that the kernels form without storing z.
double jacobi_dot(const Vector& r, const Vector& d) {
  Vector z = r;
  for (std::size_t i = 0; i < z.size(); ++i) z[i] *= d[i];
  return dot(r, z);
}

const std::vector<std::int64_t> counts{0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 100, 1000};

TEST_CASE("the residual is updated and its squares are summed in block order") {
  for (const std::int64_t count : counts) {
    CAPTURE(count);
    const Vector q = make(count, 1);
    const Vector d = make(count, 2);
    Vector expected = make(count, 3);
    Vector plain = expected;
    Vector preconditioned = expected;
    for (std::size_t i = 0; i < q.size(); ++i) expected[i] = expected[i] - 0.3 * q[i];

    const ResidualSums sums = update_residual(0.3, q.data(), nullptr, plain.data(), count);
    CHECK(plain == expected);
    CHECK(sums.r_dot_r == dot(expected, expected));
    CHECK(sums.r_dot_z == sums.r_dot_r);

    const ResidualSums with_d =
        update_residual(0.3, q.data(), d.data(), preconditioned.data(), count);
    CHECK(preconditioned == expected);
    CHECK(with_d.r_dot_r == dot(expected, expected));
    CHECK(with_d.r_dot_z == jacobi_dot(expected, d));
  }
}

TEST_CASE("a residual is formed from b and the product") {
  for (const std::int64_t count : counts) {
    CAPTURE(count);
    const Vector b = make(count, 4);
    const Vector q = make(count, 5);
    const Vector d = make(count, 6);
    Vector expected = b;
    for (std::size_t i = 0; i < q.size(); ++i) expected[i] -= q[i];
    Vector r(b.size(), -1);
    const ResidualSums sums = form_residual(b.data(), q.data(), nullptr, r.data(), count);
    CHECK(r == expected);
    CHECK(sums.r_dot_r == dot(expected, expected));
    CHECK(sums.r_dot_z == sums.r_dot_r);
    r.assign(r.size(), -1);
    const ResidualSums with_d = form_residual(b.data(), q.data(), d.data(), r.data(), count);
    CHECK(r == expected);
    CHECK(with_d.r_dot_z == jacobi_dot(expected, d));
  }
}

TEST_CASE("the solution moves along the old direction, then the direction is renewed") {
  for (const std::int64_t count : counts)
    for (const bool has_jacobi : {false, true}) {
      CAPTURE(count, has_jacobi);
      const Vector r = make(count, 7);
      const Vector d = make(count, 8);
      Vector x = make(count, 9);
      Vector p = make(count, 10);
      Vector expected_x = x;
      Vector expected_p = p;
      for (std::size_t i = 0; i < x.size(); ++i) {
        expected_x[i] += 0.7 * p[i];
        expected_p[i] = (has_jacobi ? d[i] * r[i] : r[i]) + -0.2 * p[i];
      }
      update_solution_and_direction(0.7, -0.2, r.data(), has_jacobi ? d.data() : nullptr, x.data(),
                                    p.data(), count);
      CHECK(x == expected_x);
      CHECK(p == expected_p);
    }
}

TEST_CASE("the first direction is the preconditioned residual") {
  const Vector r = make(50, 1);
  const Vector d = make(50, 2);
  Vector p(50);
  start_direction(r.data(), nullptr, p.data(), 50);
  CHECK(p == r);
  start_direction(r.data(), d.data(), p.data(), 50);
  Vector expected;
  for (std::size_t i = 0; i < 50; ++i) expected.push_back(d[i] * r[i]);
  CHECK(p == expected);
}

}  // namespace
}  // namespace weft::solver
