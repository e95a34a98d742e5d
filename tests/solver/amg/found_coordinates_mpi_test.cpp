#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/found_coordinates.h"
#include "solver/methods/method_table.h"
#include "spmv/problems/elasticity_generator.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/random_numbers.h"
#include "tests/solver/amg/crew_system.h"
#include "tests/solver/amg/preconditioned_solves.h"

namespace weft::solver::amg {
namespace {

using tests::ReferenceMatrix;
using Place = std::array<double, 2>;

/// Plane elasticity on triangles.
struct Plate {
  std::vector<Place> places;  // of the nodes that have rows
  ReferenceMatrix matrix;
};

/// What is different from triangle to triangle: Young's modulus by the number of the square, and a
/// share of it, by which one direction is stiffer.
struct Material {
  std::function<double(int x, int y)> modulus = [](int, int) { return 1; };
  double stiffer = 0;
};

/// Adds a triangle of nodes with linear displacements, Poisson's ratio 0.3.
void add_triangle(const std::array<std::size_t, 3>& nodes, const std::vector<Place>& places,
                  double modulus, double stiffer, ReferenceMatrix& matrix) {
  const auto edge = [&](std::size_t i, std::size_t axis) {
    return places[nodes[(i + 2) % 3]][axis] - places[nodes[(i + 1) % 3]][axis];
  };
  const double area =
      (edge(2, 0) * edge(0, 1) - edge(2, 1) * edge(0, 0)) / 2;  // twice it is the determinant
  std::array<Place, 3> gradients{};
  for (std::size_t i = 0; i < 3; ++i)
    gradients[i] = {-edge(i, 1) / (2 * area), edge(i, 0) / (2 * area)};
  constexpr double ratio = 0.3;
  const double lambda = modulus * ratio / (1 + ratio) / (1 - 2 * ratio);
  const double mu = modulus / 2 / (1 + ratio);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const Place& g = gradients[i];
      const Place& h = gradients[j];
      for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 2; ++b) {
          double value = lambda * g[a] * h[b] + mu * g[b] * h[a];
          if (a == b) value += mu * (g[0] * h[0] + g[1] * h[1]);
          if (a == 0 && b == 0) value += stiffer * modulus * g[0] * h[0];
          matrix[2 * nodes[i] + a][static_cast<spmv::GlobalIndex>(2 * nodes[j] + b)] +=
              std::abs(area) * value;
        }
    }
}

/// Squares of two triangles with nodes that are moved a little; the nodes at x = 0 have rows with a
/// one on the diagonal.
Plate plate_of(int width, int height, const Material& material) {
  Plate plate;
  const auto node = [&](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(height + 1) +
           static_cast<std::size_t>(y);
  };
  for (int x = 0; x <= width; ++x)
    for (int y = 0; y <= height; ++y) {
      const auto moved = [&](int axis) {
        return 0.3 * spmv::uniform(7, 2 * static_cast<spmv::GlobalIndex>(node(x, y)) + axis);
      };
      plate.places.push_back({x + moved(0), y + moved(1)});
    }
  plate.matrix.resize(2 * plate.places.size());
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < height; ++y)
      for (const bool is_upper : {false, true})
        add_triangle({node(x, y), is_upper ? node(x + 1, y + 1) : node(x + 1, y),
                      is_upper ? node(x, y + 1) : node(x + 1, y + 1)},
                     plate.places, material.modulus(x, y), material.stiffer, plate.matrix);
  const auto held = 2 * (spmv::GlobalIndex{height} + 1);
  for (spmv::GlobalIndex row = 0; row < std::ssize(plate.matrix); ++row) {
    auto& entries = plate.matrix[static_cast<std::size_t>(row)];
    std::erase_if(entries, [&](const auto& entry) { return row < held || entry.first < held; });
    if (row < held) entries[row] = 1;
  }
  return plate;
}

FoundCoordinates find(CrewSystem& system, int size) {
  const spmv::DistributedMatrix& matrix = system.op().matrix().matrix();
  return collective_find_coordinates(system.op(), NodeRows(matrix.partition, matrix.rank, size));
}

/// Iterations of CG with the modes of a rigid body at these coordinates of all nodes, alone.
std::int64_t iterations_of(CrewSystem& alone, const std::vector<double>& places, int size) {
  std::vector<double> of_rows;
  for (std::size_t row = 0; row < alone.count(); ++row)
    for (int i = 0; i < size; ++i)
      of_rows.push_back(
          places[row / static_cast<std::size_t>(size) * static_cast<std::size_t>(size) +
                 static_cast<std::size_t>(i)]);
  return solve(alone, {.direct_rows = 60}, std::vector<double>(alone.count(), 1.0), "cg",
               rigid_body_modes(of_rows, size, 0))
      .report.iterations;
}

/// Coordinates of all nodes, found alone; those of this rank's are the same.
std::vector<double> find_anywhere(const ReferenceMatrix& matrix, int size) {
  CrewSystem alone(Communicator::self(), matrix, 1);
  CrewSystem together(Communicator::collective_world(), matrix);
  const std::vector<double> places = find(alone, size).places;
  const std::vector<double> own = find(together, size).places;
  if (places.empty()) {
    CHECK(own.empty());
    return places;
  }
  const auto first = (together.first() + static_cast<std::size_t>(size) - 1) /
                     static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  CHECK(first + own.size() <= places.size());
  CHECK(std::equal(own.begin(), own.end(),
                   places.begin() + static_cast<std::ptrdiff_t>(std::min(first, places.size()))));
  return places;
}

}  // namespace

TEST_CASE("coordinates of a bar are found in its matrix, the same on any ranks and threads") {
  for (const std::string problem :
       {"elasticity3d:12x6x6", "elasticity3d:16x8x5", "elasticity3d:40x4x5,nu=0.4"}) {
    CAPTURE(problem);
    const auto matrix = tests::reference_matrix(spmv::Problem::parse(problem));
    const std::vector<double> found = find_anywhere(matrix, 3);
    CHECK(found.size() == matrix.size());
    if (found.empty()) continue;
    const spmv::ElasticityGenerator generator(spmv::Problem::parse(problem));
    std::vector<double> known;
    for (std::size_t node = 0; node < matrix.size() / 3; ++node)
      for (const double place : generator.coordinates(static_cast<spmv::GlobalIndex>(node)))
        known.push_back(place);
    CrewSystem alone(Communicator::self(), matrix, 1);
    const std::int64_t best = iterations_of(alone, known, 3);
    CHECK(2 * iterations_of(alone, found, 3) <= 3 * best);
  }
}

TEST_CASE("coordinates of plates are found beside jumps, stiff directions and held nodes") {
  for (const Material& material :
       {Material{},
        {.modulus = [](int x, int y) { return (x / 4 + y / 4) % 2 == 0 ? 1 : 1000; }},
        {.stiffer = 10}}) {
    const Plate plate = plate_of(30, 12, material);
    const std::vector<double> found = find_anywhere(plate.matrix, 2);
    CAPTURE(material.stiffer, material.modulus(4, 0));
    CHECK(found.size() == plate.matrix.size());
    if (found.empty()) continue;
    std::vector<double> known;
    for (const Place& place : plate.places) known.insert(known.end(), place.begin(), place.end());
    CrewSystem alone(Communicator::self(), plate.matrix, 1);
    CHECK(2 * iterations_of(alone, found, 2) <= 3 * iterations_of(alone, known, 2));
  }
}

TEST_CASE("no coordinates are found where rows are no displacements") {
  const auto points = tests::reference_matrix(spmv::Problem::parse("poisson3d:6x7x8"));
  ReferenceMatrix matrix(3 * points.size());
  for (std::size_t point = 0; point < points.size(); ++point)
    for (const auto& [other, value] : points[point])
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          matrix[3 * point + i][3 * other + static_cast<spmv::GlobalIndex>(j)] =
              (i == j ? 1 : 0.3) * value;
  CHECK(find_anywhere(matrix, 3).empty());
}

}  // namespace weft::solver::amg
