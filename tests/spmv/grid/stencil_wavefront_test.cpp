#include "spmv/grid/stencil_wavefront.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/stencil_product.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/random_numbers.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::ExactAccumulator;
using Array = perfmodel::HugePageBuffer<double>;

/// Arrays of r, p, x with random values at all points, ghosts too, and the same steps one by one.
struct Step {
  Step(const std::string& word, const GridBox& own)
      : stencil(GridStencil::of(Problem::parse(word))), layout(own, 1) {
    r = random_array(1);
    p = random_array(2);
    x = random_array(3);
  }

  Array random_array(std::uint64_t seed) const {
    Array array(layout.element_count());
    for (std::size_t i = 0; i < array.size(); ++i)
      array[i] = 2 * uniform(seed, static_cast<GlobalIndex>(i)) - 1;
    return array;
  }

  /// x += α·p, p = r + β·p at the points of `box`.
  void renew(const GridBox& box) {
    for (const GridBox& point : tests::points(box)) {
      const std::size_t i = at(point);
      x[i] += alpha * p[i];
      p[i] = r[i] + beta * p[i];
    }
  }
  /// u·(A·u) at the points of `box`.
  std::vector<double> curvature(const Array& u, const GridBox& box) const {
    Array product(layout.element_count());
    multiply_stencil(stencil, layout, u.data(), product.data(), box, {}, {});
    std::vector<double> terms;
    for (const GridBox& point : tests::points(box))
      terms.push_back(u[at(point)] * product[at(point)]);
    return terms;
  }
  /// The same where every pair of neighbours adds once, at the later point.
  std::vector<double> half_curvature(const Array& u, const GridBox& box) const {
    std::vector<double> terms;
    for (const GridBox& point : tests::points(box)) {
      const std::size_t i = at(point);
      double before = 0;
      for (const auto& [offset, weight] : neighbours_before()) before += weight * u[i - offset];
      terms.push_back(u[i] * (stencil.centre * u[i] - 2 * before));
    }
    return terms;
  }
  /// Distances of the previous neighbours, and their weights.
  std::vector<std::pair<std::size_t, double>> neighbours_before() const {
    const auto row = static_cast<std::size_t>(layout.row_stride());
    const auto plane = static_cast<std::size_t>(layout.plane_stride());
    if (!stencil.has_corners)
      return {{1, stencil.weights[0]}, {row, stencil.weights[1]}, {plane, stencil.weights[2]}};
    std::vector<std::pair<std::size_t, double>> all;
    for (const std::size_t middle : {row, plane - row, plane, plane + row})
      for (const std::size_t offset : {middle - 1, middle, middle + 1}) all.emplace_back(offset, 1);
    all.emplace_back(1, 1);
    return all;
  }
  /// r -= α·(A·p), and the squares.
  std::vector<double> update(const GridBox& box) {
    Array product(layout.element_count());
    multiply_stencil(stencil, layout, p.data(), product.data(), box, {}, {});
    std::vector<double> squares;
    for (const GridBox& point : tests::points(box)) {
      const std::size_t i = at(point);
      r[i] -= alpha * product[i];
      squares.push_back(r[i] * r[i]);
    }
    return squares;
  }
  std::size_t at(const GridBox& point) const {
    return layout.index(point.begin[0], point.begin[1], point.begin[2]);
  }

  static constexpr double alpha = 0.3;
  static constexpr double beta = -0.7;
  GridStencil stencil;
  GridLayout layout;
  Array r, p, x;
};

bool is_same(const Array& a, const Array& b) {
  return std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0;
}

void check_sum(CloseSum& sum, const std::vector<double>& terms) {
  ExactAccumulator found;
  sum.flush(found);
  double size = 0;
  for (const double term : terms) size += std::abs(term);
  CHECK(std::abs(found.rounded() - tests::exact_sum(terms)) <= 1e-15 * size);
}

TEST_CASE("the passes of CG on a grid do what its steps do one by one, in any boxes") {
  const GridBox own{{2, 0, 5}, {21, 11, 14}};
  const GridBox middle{{3, 1, 6}, {20, 10, 13}};
  const GridBox plane{{2, 0, 7}, {21, 11, 8}};
  const GridBox none{{2, 0, 5}, {2, 11, 14}};
  for (const std::string word : {"poisson3d:30", "anisotropic3d:30,1,0.5,2", "poisson3d27:30"})
    for (const GridBox& box : {own, middle, plane, none}) {
      CAPTURE(word, box.begin[0], box.end[2]);
      Step expected(word, own);
      Step found(word, own);

      // p of `box`, which is all that is renewed now; the curvature also beside it.
      CloseSum p_dot_ap(1e5);
      int pauses = 0;
      renew_direction_in_one_pass(found.stencil, found.layout,
                                  {.alpha = Step::alpha,
                                   .beta = Step::beta,
                                   .z = {.r = found.r.data()},
                                   .p = found.p.data(),
                                   .x = found.x.data(),
                                   .direction = box,
                                   .curvature = own},
                                  p_dot_ap, [&] { ++pauses; });
      expected.renew(box);
      CHECK(is_same(found.p, expected.p));
      CHECK(is_same(found.x, expected.x));
      check_sum(p_dot_ap, expected.curvature(expected.p, own));
      CHECK(pauses > 0);

      CloseSum r_dot_r(1e5);
      update_residual(found.stencil, found.layout, Step::alpha, found.p.data(), found.r.data(), box,
                      r_dot_r);
      check_sum(r_dot_r, expected.update(box));
      CHECK(is_same(found.r, expected.r));

      CloseSum alone(1e5);
      add_curvature(found.stencil, found.layout, found.r.data(), box, alone);
      check_sum(alone, expected.curvature(expected.r, box));
      CloseSum by_halves(1e5);
      add_half_curvature(found.stencil, found.layout, found.r.data(), box, by_halves);
      check_sum(by_halves, expected.half_curvature(expected.r, box));

      update_solution(found.layout, Step::alpha, found.p.data(), found.x.data(), box);
      renew_direction(found.layout, Step::beta, {.r = found.r.data()}, found.p.data(), box);
      expected.renew(box);
      CHECK(is_same(found.p, expected.p));
      CHECK(is_same(found.x, expected.x));
    }
}

template <class Number>
void check_scaled(const std::string& word, const GridBox& own, const GridBox& box) {
  CAPTURE(word, sizeof(Number), box.begin[0], box.end[2]);
  Step expected(word, own);
  Step found(word, own);
  // z by its factor, a power of two; the reference has it as r.
  perfmodel::HugePageBuffer<Number> z(found.layout.element_count());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<Number>(16 * found.r[i]);
  for (std::size_t i = 0; i < z.size(); ++i) expected.r[i] = static_cast<double>(z[i]) / 16;
  DirectionStart start{.factor = 1.0 / 16};
  if constexpr (std::is_same_v<Number, float>)
    start.single = z.data();
  else
    start.scaled = z.data();
  CloseSum p_dot_ap(1e5);
  renew_direction_in_one_pass(found.stencil, found.layout,
                              {.alpha = Step::alpha,
                               .beta = Step::beta,
                               .z = start,
                               .p = found.p.data(),
                               .x = found.x.data(),
                               .direction = box,
                               .curvature = own},
                              p_dot_ap, {});
  expected.renew(box);
  CHECK(is_same(found.p, expected.p));
  CHECK(is_same(found.x, expected.x));
  update_solution(found.layout, Step::alpha, found.p.data(), found.x.data(), box);
  renew_direction(found.layout, Step::beta, start, found.p.data(), box);
  expected.renew(box);
  CHECK(is_same(found.p, expected.p));

  // The copy has a layout of its own.
  for (std::size_t i = 0; i < z.size(); ++i) expected.r[i] = found.r[i];
  const GridLayout deep(own, 2, 16);
  perfmodel::HugePageBuffer<Number> copy(deep.element_count());
  CloseSum r_dot_r(1e5);
  update_residual(found.stencil, found.layout, Step::alpha, found.p.data(), found.r.data(), box,
                  r_dot_r, ScaledCopy<Number>{deep, copy.data(), 8});
  check_sum(r_dot_r, expected.update(box));
  CHECK(is_same(found.r, expected.r));
  for (const GridBox& point : tests::points(box))
    CHECK(copy[deep.index(point.begin[0], point.begin[1], point.begin[2])] ==
          static_cast<Number>(8 * found.r[found.at(point)]));
}

TEST_CASE("a direction begins with a preconditioned residual in any precision, and r is copied") {
  const GridBox own{{2, 0, 5}, {21, 11, 14}};
  const GridBox middle{{3, 1, 6}, {20, 10, 13}};
  for (const std::string word : {"poisson3d:30", "anisotropic3d:30,1,0.5,2", "poisson3d27:30"})
    for (const GridBox& box : {own, middle}) {
      check_scaled<float>(word, own, box);
      check_scaled<double>(word, own, box);
    }
}

TEST_CASE("over a whole grid, with zeros around it, the halves are u·(A·u)") {
  for (const std::string word : {"poisson3d:20", "anisotropic3d:20,1,0.5,2", "poisson3d27:20"}) {
    CAPTURE(word);
    const GridBox grid{{0, 0, 0}, {20, 20, 20}};
    Step step(word, grid);
    Array u(step.layout.element_count());
    if (u.size() == 0) {
      FAIL("found a grid without points");
      return;
    }
    for (const GridBox& point : tests::points(grid)) u[step.at(point)] = step.r[step.at(point)];
    CloseSum sum(1e5);
    add_half_curvature(step.stencil, step.layout, u.data(), grid, sum);
    check_sum(sum, step.curvature(u, grid));
  }
}

TEST_CASE("one pass of CG on a grid does what its steps do one by one") {
  const GridBox own{{2, 0, 5}, {21, 11, 14}};
  const GridBox planes{{2, 0, 6}, {21, 11, 13}};
  const GridBox inside{{3, 1, 6}, {20, 10, 13}};
  const GridBox deep{{4, 2, 7}, {19, 9, 12}};
  for (const auto& [direction, middle] :
       {std::pair{planes, planes}, std::pair{deep, inside}, std::pair{planes, inside}})
    for (const std::string word : {"poisson3d:30", "anisotropic3d:30,1,0.5,2", "poisson3d27:30"}) {
      CAPTURE(word, direction.begin[0], middle.begin[0]);
      Step expected(word, own);
      Step found(word, own);
      CloseSum r_dot_r(1e5);
      CloseSum r_dot_ar(1e5);
      advance_in_one_pass(found.stencil, found.layout,
                          {.alpha = Step::alpha,
                           .beta = Step::beta,
                           .r = found.r.data(),
                           .p = found.p.data(),
                           .x = found.x.data(),
                           .direction = direction,
                           .update = own,
                           .curvature = middle},
                          r_dot_r, r_dot_ar, {});
      for (const GridBox& point : tests::points(direction)) {
        const std::size_t i = expected.at(point);
        expected.p[i] = expected.r[i] + Step::beta * expected.p[i];
      }
      for (const GridBox& point : tests::points(own)) {
        const std::size_t i = expected.at(point);
        expected.x[i] += Step::alpha * expected.p[i];
      }
      check_sum(r_dot_r, expected.update(own));
      CHECK(is_same(found.p, expected.p));
      CHECK(is_same(found.x, expected.x));
      CHECK(is_same(found.r, expected.r));
      check_sum(r_dot_ar, expected.half_curvature(expected.r, middle));
    }
}

}  // namespace
}  // namespace weft::spmv
