#include "solver/krylov/fused_vector_kernels.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/exact_accumulator.h"

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
  comm_thread::ExactAccumulator sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(a[i] * b[i]);
  return sum.rounded();
}

/// Σ r_i·(d_i·r_i): the product that the kernels form without storing z.
double jacobi_dot(const Vector& r, const Vector& d) {
  Vector z = r;
  for (std::size_t i = 0; i < z.size(); ++i) z[i] *= d[i];
  return dot(r, z);
}

template <class Sum>
double total(const Sum& summed) {
  comm_thread::ExactAccumulator total;
  Sum sum = summed;
  sum.flush(total);
  return total.rounded();
}

constexpr double bound = 1e7;  // of all sums here

const std::vector<std::int64_t> counts{0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 100, 1000};

TEST_CASE("the residual is updated and its squares are summed, however it is cut") {
  for (const std::int64_t count : counts)
    for (const std::int64_t first : {count, count / 3})
      for (const bool has_jacobi : {false, true}) {
        CAPTURE(count, first, has_jacobi);
        const Vector q = make(count, 1);
        const Vector d = make(count, 2);
        const Vector before = make(count, 3);
        Vector expected = before;
        for (std::size_t i = 0; i < q.size(); ++i) expected[i] = expected[i] - 0.3 * q[i];
        Vector r = before;
        Vector copy(r.size(), -1);
        ResidualSums sums(bound, bound);
        ResidualSums start(bound, bound);
        for (const auto& [begin, end] : {std::pair{std::int64_t{0}, first}, {first, count}}) {
          const double* const diagonal = has_jacobi ? d.data() + begin : nullptr;
          update_residual(0.3, q.data() + begin, diagonal, r.data() + begin, end - begin, sums);
          start_residual(before.data() + begin, diagonal, copy.data() + begin, end - begin, start);
        }
        CHECK(r == expected);
        CHECK(copy == before);
        CHECK(total(sums.r_dot_r) == Approx(dot(expected, expected)).margin(1e-12));
        CHECK(total(start.r_dot_r) == Approx(dot(before, before)).margin(1e-12));
        const double with_d = has_jacobi ? jacobi_dot(expected, d) : 0;
        CHECK(total(sums.r_dot_z) == Approx(with_d).margin(1e-12));
        spmv::BinnedSum square(bound);
        spmv::BinnedSum difference(bound);
        add_square(before.data(), count, square);
        add_difference_square(before.data(), expected.data(), count, difference);
        Vector moved = before;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= expected[i];
        CHECK(total(square) == dot(before, before));
        CHECK(total(difference) == dot(moved, moved));
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

TEST_CASE("the last step adds to the solution only") {
  for (const std::int64_t count : {1, 8, 50}) {
    Vector x = make(50, 1);
    const Vector p = make(50, 2);
    Vector expected = x;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) expected[i] += 0.7 * p[i];
    update_solution(0.7, p.data(), x.data(), count);
    CHECK(x == expected);
  }
}

}  // namespace
}  // namespace weft::solver
