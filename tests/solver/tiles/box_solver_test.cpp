#include "solver/tiles/box_solver.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/robin_box.h"

namespace weft::solver {
namespace {

using Vector = std::vector<double>;

/// The matrix of the box times x, straight from its definition.
Vector multiply(const RobinBox& box, const Vector& x) {
  Vector y;
  const auto at = [&](int column, int row) {
    const bool is_inside = column >= 0 && column < box.width && row >= 0 && row < box.height;
    return is_inside ? x[static_cast<std::size_t>(row * box.width + column)] : 0.0;
  };
  for (int row = 0; row < box.height; ++row)
    for (int column = 0; column < box.width; ++column) {
      const double diagonal = 4 - (column == 0) * box.west - (column == box.width - 1) * box.east -
                              (row == 0) * box.south - (row == box.height - 1) * box.north;
      y.push_back(diagonal * at(column, row) - at(column - 1, row) - at(column + 1, row) -
                  at(column, row - 1) - at(column, row + 1));
    }
  return y;
}

std::vector<RobinBox> boxes() {
  const double beta = 1 / 1.01;
  return {{1, 1},
          {5, 4},
          {4, 7, beta, beta, beta, beta},
          {1, 6, beta, beta},
          {9, 1, 0, 0, beta, 0.3},
          {8, 8, 0.5, 0, 0, beta},
          {17, 12, beta, 0, 0.25, beta},
          {26, 33, beta, beta, 0, 0},
          {66, 66, beta, beta, beta, beta}};
}

TEST_CASE("what is solved for is the matrix times the solution, again and again") {
  for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor})
    for (const RobinBox& box : boxes()) {
      CAPTURE(name(kind), box.width, box.height);
      const auto solver = make_box_solver(kind, box, 2);
      for (int i = 0; i < 3; ++i) {
        Vector x;
        for (std::size_t point = 0; point < box.point_count(); ++point)
          x.push_back(std::sin(static_cast<double>(i + 1) * static_cast<double>(point) + 0.3));
        Vector b = multiply(box, x);
        const auto solution = solver->solve(i % 2, b, BoxFrame::whole(box), BoxFrame::whole(box));
        CHECK(solution.size() == x.size());
        double error = 0;
        for (std::size_t point = 0; point < x.size(); ++point)
          error = std::max(error, std::abs(solution[point] - x[point]));
        CHECK(error < 1e-10);
      }
    }
}

TEST_CASE("what is 0 outside of a frame is solved for as what is not") {
  for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor})
    for (const RobinBox& box : boxes())
      for (const BoxFrame& frame : {BoxFrame{}, BoxFrame{2, 0, 1, 3}, BoxFrame{0, 1, 2, 0},
                                    BoxFrame{1, 1, 0, 0}, BoxFrame{40, 40, 40, 40}}) {
        CAPTURE(name(kind), box.width, box.height, frame.west, frame.south);
        const auto solver = make_box_solver(kind, box, 1);
        Vector b;
        Vector right_hand_side;
        for (int y = 0; y < box.height; ++y)
          for (int x = 0; x < box.width; ++x) {
            const bool is_within = x < frame.west || x >= box.width - frame.east ||
                                   y < frame.south || y >= box.height - frame.north;
            b.push_back(is_within ? std::sin(7.0 * x + y + 0.2) : 0);
            // Values outside of the frame are not read.
            right_hand_side.push_back(is_within ? b.back() : 1e30);
          }
        const auto solution = solver->solve(0, right_hand_side, frame, BoxFrame::whole(box));
        const Vector product = multiply(box, Vector(solution.begin(), solution.end()));
        double error = 0;
        for (std::size_t point = 0; point < b.size(); ++point)
          error = std::max(error, std::abs(product[point] - b[point]));
        CHECK(error < 1e-10);
      }
}

TEST_CASE("what is wanted of a solution has the bits of the whole one") {
  for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor})
    for (const RobinBox& box : boxes())
      for (const BoxFrame& wanted :
           {BoxFrame{3, 3, 3, 3}, BoxFrame{0, 9, 1, 0}, BoxFrame{0, 0, 2, 0}, BoxFrame{40, 2, 0, 0},
            BoxFrame{17, 0, 0, 1}, BoxFrame{0, 70, 70, 0}}) {
        CAPTURE(name(kind), box.width, box.height, wanted.west, wanted.east);
        const BoxFrame given = BoxFrame::whole(box);
        const auto solver = make_box_solver(kind, box, 2);
        Vector b;
        for (std::size_t point = 0; point < box.point_count(); ++point)
          b.push_back(std::sin(3.0 * static_cast<double>(point) + 0.1));
        Vector same_b = b;
        const auto whole = solver->solve(0, b, given, given);
        const auto solution = solver->solve(1, same_b, given, wanted);
        int differences = 0;
        int count = 0;
        wanted.for_each_run(
            box.width, box.height,
            [&](int x, int y, int points) {
              const auto place = static_cast<std::size_t>(y * box.width + x);
              for (std::size_t i = place; i < place + static_cast<std::size_t>(points); ++i)
                differences += solution[i] != whole[i];
              count += points;
            },
            [&](int, int, int points) { count += points; });
        CHECK(differences == 0);
        CHECK(count == box.width * box.height);
      }
}

TEST_CASE("a matrix that is not positive definite is refused") {
  for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor}) {
    CAPTURE(name(kind));
    // With Neumann conditions all around constants are in the kernel.
    CHECK_THROWS_AS(make_box_solver(kind, {4, 4, 1.1, 1.1, 1.1, 1.1}, 1), comm_thread::InputError);
  }
}

}  // namespace
}  // namespace weft::solver
