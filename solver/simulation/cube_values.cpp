#include "solver/simulation/cube_values.h"

#include <algorithm>
#include <cstdint>

#include "comm_thread/engine/exact_accumulator.h"
#include "spmv/grid/average_sweep.h"

namespace weft::solver {

CubeValues::CubeValues(CubeWorld& world, int rank, std::span<double> values)
    : world_(world), values_(values) {
  const std::vector<std::size_t> faces = world.shape.faces_with_neighbour(rank);
  const auto count = static_cast<std::int64_t>(world.shape.face_size());
  neighbours_.reserve(faces.size());
  for (const std::size_t face : faces) {
    faces_[neighbours_.size()] = static_cast<std::uint8_t>(face);
    const std::int64_t begin = count * static_cast<std::int64_t>(neighbours_.size());
    neighbours_.push_back({world.shape.neighbour(rank, face), begin, count, begin, count});
  }
}

void CubeValues::pack(SweepState state, std::size_t neighbour, std::span<double> out) const {
  world_.shape.pack(state == SweepState::current ? values_ : std::span<const double>(recorded_),
                    faces_[neighbour], out);
}

void CubeValues::unpack(SweepState state, std::size_t neighbour, std::span<const double> in) {
  world_.shape.unpack(state == SweepState::current ? values_ : std::span<double>(recorded_),
                      faces_[neighbour], in);
}

double CubeValues::sweep(bool contributes) {
  const spmv::GridLayout& layout = world_.shape.layout();
  double* const fresh = world_.scratch.data();
  double contribution = 0;
  if (contributes) {
    comm_thread::ExactAccumulator square;
    spmv::sweep_average_with_residual(layout, values_.data(), fresh, layout.own(),
                                      world_.residual_bound, square);
    contribution = square.rounded();
  } else {
    spmv::sweep_average(layout, values_.data(), fresh, layout.own());
  }
  const int points = world_.shape.points();
  for (int z = 0; z < points; ++z)
    for (int y = 0; y < points; ++y) {
      const std::size_t row = layout.index(0, y, z);
      std::copy_n(fresh + row, points, values_.data() + row);
    }
  return contribution;
}

double CubeValues::contribution(SweepState state) {
  comm_thread::ExactAccumulator square;
  const spmv::GridLayout& layout = world_.shape.layout();
  spmv::add_average_residual(layout,
                             state == SweepState::current ? values_.data() : recorded_.data(),
                             layout.own(), world_.residual_bound, square);
  return square.rounded();
}

}  // namespace weft::solver
