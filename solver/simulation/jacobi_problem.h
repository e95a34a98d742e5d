#pragma once

#include <span>

#include "solver/simulation/part_shape.h"

namespace weft::solver {

/// The diffusion problem on the grid of all parts. Euclidean norm of its source.
double source_norm(const PartShape& shape);

/// Sets the ghosts of a rank's part that are boundary values of the problem. Shape: values: [layout
/// element count].
void set_boundary_values(const PartShape& shape, int rank, std::span<double> values);

}  // namespace weft::solver
