#include "spmv/grid/average_sweep.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/problems/random_numbers.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::ExactAccumulator;
using Array = perfmodel::HugePageBuffer<double>;

constexpr double bound = 144;  // of squared residuals, where values are in [-1, 1]

Array random_array(const GridLayout& layout) {
  Array array(layout.element_count());
  for (std::size_t i = 0; i < array.size(); ++i)
    array[i] = 2 * uniform(1, static_cast<GlobalIndex>(i)) - 1;
  return array;
}

bool is_same(const Array& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(double) * b.size()) == 0;
}

/// Sweeps `box` in every way; all must agree with the loop and leave other points alone.
void check_box(const GridLayout& layout, const GridBox& box) {
  CAPTURE(layout.own().size(0), box.begin[0], box.end[0], box.begin[1], box.end[1]);
  const Array from = random_array(layout);
  const std::vector<double> before(from.data(), from.data() + from.size());
  std::vector<double> expected(from.size());
  tests::sweep_grid(layout, from.span(), expected, box);
  const std::vector<double> squares = tests::residual_squares(layout, from.span(), box);

  Array to(from.size());
  sweep_average(layout, from.data(), to.data(), box);
  CHECK(is_same(to, expected));

  to = Array(from.size());
  sweep_average_rows(layout, from.data(), to.data(), box);
  CHECK(is_same(to, expected));

  const double exact = tests::exact_sum(squares);
  for (const double scale : {1.0, 0x1p70}) {  // the larger one drops bits that show
    to = Array(from.size());
    ExactAccumulator sum, sum_alone;
    sweep_average_with_residual(layout, from.data(), to.data(), box, scale * bound, sum);
    CHECK(is_same(to, expected));
    add_average_residual(layout, from.data(), box, scale * bound, sum_alone);
    CHECK(sum.rounded() == tests::binned_sum(squares, scale * bound));
    CHECK(sum_alone.rounded() == sum.rounded());
    if (scale == 1) CHECK(std::abs(sum.rounded() - exact) <= 1e-12 * exact);
  }
  CHECK(is_same(from, before));
}

TEST_CASE("every sweep gives the bits of the loop, for rows of any length") {
  for (GlobalIndex x = 1; x <= 18; ++x) {
    const GridLayout layout({{0, 0, 0}, {x, 3, 4}}, 1);
    check_box(layout, layout.own());
  }
}

TEST_CASE("part of a box is swept, wherever it begins") {
  const GridLayout layout({{3, 40, 500}, {3 + 27, 40 + 5, 500 + 4}}, 2);
  for (GlobalIndex begin = 2; begin <= 12; ++begin)  // from a ghost on
    for (const GlobalIndex count : {1, 7, 8, 9, 16, 18})
      check_box(layout, {{begin, 41, 501}, {begin + count, 44, 503}});
  check_box(layout, {{2, 39, 499}, {31, 46, 505}});
  check_box(layout, {{3, 42, 500}, {30, 43, 504}});  // single rows
  check_box(layout, {{3, 40, 502}, {30, 45, 503}});  // a plane
}

TEST_CASE("long rows are walked in blocks, with the same bits") {
  const GridLayout layout({{0, 0, 0}, {4001, 11, 3}}, 1);
  check_box(layout, layout.own());
}

TEST_CASE("nothing is done on an empty box") {
  const GridLayout layout({{0, 0, 0}, {4, 4, 4}}, 1);
  check_box(layout, {{1, 1, 1}, {1, 3, 3}});
  check_box(layout, {{1, 3, 1}, {3, 1, 3}});
}

TEST_CASE("the sum of the squares is the same however a box is cut") {
  const GridLayout layout({{0, 0, 0}, {13, 6, 5}}, 1);
  const Array from = random_array(layout);
  Array to(from.size());
  ExactAccumulator whole;
  add_average_residual(layout, from.data(), layout.own(), bound, whole);
  for (std::size_t d = 0; d < 3; ++d)
    for (GlobalIndex cut = 0; cut <= layout.own().end[d]; ++cut)
      for (GlobalIndex second = cut; second <= layout.own().end[d]; ++second) {
        const GlobalIndex cuts[] = {0, cut, second, layout.own().end[d]};
        ExactAccumulator parts;
        for (const std::size_t i : {2U, 0U, 1U}) {
          GridBox part = layout.own();
          part.begin[d] = cuts[i];
          part.end[d] = cuts[i + 1];
          if (i == 1)
            add_average_residual(layout, from.data(), part, bound, parts);
          else
            sweep_average_with_residual(layout, from.data(), to.data(), part, bound, parts);
        }
        CHECK(parts.rounded() == whole.rounded());
      }
}

}  // namespace
}  // namespace weft::spmv
