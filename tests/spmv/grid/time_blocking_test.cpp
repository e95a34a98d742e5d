#include "spmv/grid/time_blocking.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/problems/random_numbers.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::ComputeTeam;
using Array = perfmodel::HugePageBuffer<double>;

/// Sides of a box on which the halo shrinks from sweep to sweep; the others have given values.
struct Shrinking {
  std::array<bool, 3> below{};
  std::array<bool, 3> above{};
};

std::vector<GridBox> boxes_of(const GridBox& own, int count, const Shrinking& sides) {
  std::vector<GridBox> boxes(static_cast<std::size_t>(count), own);
  for (int t = 0; t < count; ++t)
    for (std::size_t d = 0; d < 3; ++d) {
      GridBox& box = boxes[static_cast<std::size_t>(t)];
      if (sides.below[d]) box.begin[d] -= count - 1 - t;
      if (sides.above[d]) box.end[d] += count - 1 - t;
    }
  return boxes;
}

/// A box with random values and what single sweeps make of it.
class Case {
 public:
  Case(const GridBox& own, int sweep_count, const Shrinking& sides = {})
      : layout_(own, 1 + (is_any(sides) ? sweep_count : 0)),
        boxes_(boxes_of(own, sweep_count, sides)),
        start_(layout_.element_count()),
        other_(start_.size(), std::numeric_limits<double>::quiet_NaN()) {
    for (std::size_t i = 0; i < start_.size(); ++i)
      start_[i] = uniform(1, static_cast<GlobalIndex>(i));
    // Both arrays have the boundary values; everything else in the second one is wrong.
    const GridBox given = boxes_.front();
    for (const GridBox& point : tests::points(layout_.with_ghosts())) {
      const std::size_t place = layout_.index(point.begin[0], point.begin[1], point.begin[2]);
      for (std::size_t d = 0; d < 3; ++d)
        if ((point.begin[d] < given.begin[d] && !sides.below[d]) ||
            (point.begin[d] >= given.end[d] && !sides.above[d]))
          other_[place] = start_[place];
    }
    expected_ = {start_, other_};
    for (std::size_t t = 0; t < boxes_.size(); ++t)
      tests::sweep_grid(layout_, expected_[t % 2], expected_[(t + 1) % 2], boxes_[t]);
  }

  /// True if both arrays have the same bits everywhere.
  bool is_reproduced(const ComputeTeam& team, int height) const {
    Array first(start_.size()), second(start_.size());
    std::copy(start_.begin(), start_.end(), first.data());
    std::copy(other_.begin(), other_.end(), second.data());
    const std::array<double*, 2> arrays{first.data(), second.data()};
    const TimeBlocking blocking(layout_, height);
    team.run(
        [&](const comm_thread::TeamThread& thread) { blocking.sweep(thread, arrays, boxes_); });
    return has_bits_of(first, expected_[0]) && has_bits_of(second, expected_[1]);
  }

 private:
  static bool is_any(const Shrinking& sides) {
    return sides.below != std::array<bool, 3>{} || sides.above != std::array<bool, 3>{};
  }

  static bool has_bits_of(const Array& array, const std::vector<double>& expected) {
    return std::memcmp(array.data(), expected.data(), sizeof(double) * expected.size()) == 0;
  }

  GridLayout layout_;
  std::vector<GridBox> boxes_;
  std::vector<double> start_, other_;
  std::array<std::vector<double>, 2> expected_;
};

template <class Check>
void for_teams_and_heights(const Check& check) {
  for (const int threads : {1, 2, 3}) {
    const ComputeTeam team(threads, comm_thread::WaitPolicy::yield);
    for (const int height : {1, 2, 3, 4, 8}) {
      CAPTURE(threads, height);
      check(team, height);
    }
  }
}

TEST_CASE("blocks of sweeps give the bits of single sweeps") {
  // Also fewer rows than a diamond has, and more than fit evenly.
  for (const GridBox& own :
       {GridBox{{0, 0, 0}, {1, 1, 1}}, GridBox{{0, 0, 0}, {5, 3, 7}},
        GridBox{{4, 50, 6}, {13, 50 + 37, 11}}, GridBox{{0, 7, 9}, {3, 7 + 16, 10}}}) {
    std::vector<Case> cases;
    for (int sweep_count = 1; sweep_count <= 20; ++sweep_count)
      cases.emplace_back(own, sweep_count);
    for_teams_and_heights([&](const ComputeTeam& team, int height) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(own.size(1), i + 1);
        CHECK(cases[i].is_reproduced(team, height));
      }
    });
  }
}

TEST_CASE("boxes that shrink from sweep to sweep give the bits of single sweeps") {
  const GridBox own{{10, 20, 30}, {10 + 5, 20 + 11, 30 + 6}};
  for (const Shrinking& sides : {Shrinking{{true, true, true}, {true, true, true}},
                                 Shrinking{{false, true, false}, {false, false, false}},
                                 Shrinking{{false, false, true}, {false, true, false}},
                                 Shrinking{{true, false, false}, {false, false, true}}}) {
    std::vector<Case> cases;
    for (const int sweep_count : {1, 2, 3, 5, 8}) cases.emplace_back(own, sweep_count, sides);
    for_teams_and_heights([&](const ComputeTeam& team, int height) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(sides.below[1], sides.above[1], i);
        CHECK(cases[i].is_reproduced(team, height));
      }
    });
  }
}

TEST_CASE("no sweeps change nothing") {
  const GridLayout layout({{0, 0, 0}, {2, 2, 2}}, 1);
  const ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  Array values(layout.element_count());
  const std::array<double*, 2> arrays{values.data(), nullptr};
  team.run([&](const comm_thread::TeamThread& thread) {
    TimeBlocking(layout, 2).sweep(thread, arrays, {});
  });
  CHECK(std::all_of(values.data(), values.data() + values.size(),
                    [](double value) { return value == 0; }));
}

TEST_CASE("the height is the largest that fits into half the cache and feeds all threads") {
  // Rows of 64 elements, 512 bytes: height h needs 2048·h² bytes.
  const GridLayout layout({{0, 0, 0}, {50, 64, 5}}, 1);
  REQUIRE(layout.row_stride() == 64);
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  CHECK(TimeBlocking::choose_height(layout, mebibyte, 1) == 16);
  CHECK(TimeBlocking::choose_height(layout, mebibyte - 1, 1) == 12);
  CHECK(TimeBlocking::choose_height(layout, mebibyte / 4, 1) == 8);
  CHECK(TimeBlocking::choose_height(layout, 2 * 2048 * 9, 1) == 3);
  CHECK(TimeBlocking::choose_height(layout, 2 * 2048 * 4 - 1, 1) == 1);
  // 2·h rows for each thread.
  CHECK(TimeBlocking::choose_height(layout, mebibyte, 2) == 16);
  CHECK(TimeBlocking::choose_height(layout, mebibyte, 3) == 8);
  CHECK(TimeBlocking::choose_height(layout, mebibyte, 16) == 2);
  CHECK(TimeBlocking::choose_height(layout, mebibyte, 17) == 1);
}

}  // namespace
}  // namespace weft::spmv
