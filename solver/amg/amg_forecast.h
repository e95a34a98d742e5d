#pragma once

#include "solver/amg/settings.h"
#include "solver/precondition/matrix_size.h"

namespace weft::solver::amg {

/// What coarse levels represent, as far as it decides their size.
struct ForecastNodes {
  bool exist = false;  // consecutive rows are nodes
  double vectors = 1;  // of a node
  double least_vectors = 1;  // where it is not known how many
};

/// Bytes of a rank for amg and its set-up at their peak, measured.
double forecast_bytes(const Settings& settings, const ForecastNodes& nodes, const MatrixSize& size);

}  // namespace weft::solver::amg
