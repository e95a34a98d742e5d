#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/report/solve_report.h"

namespace weft::solver {

/// Which eigenvalues are looked for: the algebraically smallest or largest.
enum class SpectrumEnd { smallest, largest };

inline const char* name(SpectrumEnd end) {
  return end == SpectrumEnd::smallest ? "smallest" : "largest";
}

/// An eigenvalue θ of a symmetric A with a vector x of norm 1.
struct EigenPair {
  double value = 0;
  /// ‖A x − θ x‖, recomputed from x: an eigenvalue of A lies within this distance of θ.
  double residual = 0;
};

/// Outcome of a search for eigenvalues; the same on every rank.
struct EigenReport {
  SolveStatus status = SolveStatus::not_converged;
  std::string explanation;
  /// From the end of the spectrum inwards.
  std::vector<EigenPair> pairs;
  double norm = 0;  // ‖A‖₂ from the outermost Ritz values, which tolerances refer to
  std::int64_t products = 0;  // A·x for one vector
  int restarts = 0;
  int degree = 0;  // of the last filter
  int width = 0;  // vectors of a block
  int subspace = 0;  // vectors of the search space
  double seconds = 0;
};

}  // namespace weft::solver
