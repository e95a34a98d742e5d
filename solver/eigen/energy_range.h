#pragma once

namespace weft::solver {

/// Ends of an interval of energies, or of eigenvalues.
struct EnergyRange {
  double begin = 0;
  double end = 0;
};

}  // namespace weft::solver
