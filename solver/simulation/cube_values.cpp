#include "solver/simulation/cube_values.h"

#include <algorithm>
#include <cstdint>

#include "spmv/grid/average_sweep.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

CubeValues::CubeValues(CubeWorld& world, int rank, std::span<double> values)
    : world_(world), values_(values), neighbours_(world.shape.halo_neighbours(rank)) {
  std::ranges::copy(world.shape.faces_with_neighbour(rank), faces_.begin());
}

void CubeValues::pack(const TeamThread& /*thread*/, SweepState state, std::size_t neighbour,
                      std::span<double> out) const {
  world_.shape.pack(state == SweepState::current ? values_ : std::span<const double>(recorded_),
                    faces_[neighbour], out);
}

void CubeValues::unpack(const TeamThread& /*thread*/, SweepState state, std::size_t neighbour,
                        std::span<const double> in) {
  world_.shape.unpack(state == SweepState::current ? values_ : std::span<double>(recorded_),
                      faces_[neighbour], in);
}

void CubeValues::sweep(const TeamThread& /*thread*/, SweepPart /*part*/,
                       ExactAccumulator* residual_square) {
  const spmv::GridLayout& layout = world_.shape.layout();
  double* const fresh = world_.scratch.data();
  if (residual_square)
    spmv::sweep_average_with_residual(layout, values_.data(), fresh, layout.own(),
                                      world_.residual_bound, *residual_square);
  else
    spmv::sweep_average(layout, values_.data(), fresh, layout.own());
  const int points = world_.shape.points();
  for (int z = 0; z < points; ++z)
    for (int y = 0; y < points; ++y) {
      const std::size_t row = layout.index(0, y, z);
      std::copy_n(fresh + row, points, values_.data() + row);
    }
}

void CubeValues::add_residual(const TeamThread& /*thread*/, SweepState state,
                              ExactAccumulator& residual_square) {
  const spmv::GridLayout& layout = world_.shape.layout();
  spmv::add_average_residual(layout,
                             state == SweepState::current ? values_.data() : recorded_.data(),
                             layout.own(), world_.residual_bound, residual_square);
}

}  // namespace weft::solver
