#pragma once

#include <vector>

#include "solver/eigen/eigen_report.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// How eigenvalues are searched for. automatic: lobpcg where there is a mass matrix or a
/// preconditioner, else lanczos.
enum class EigenMethod { automatic, lanczos, lobpcg };

inline const char* name(EigenMethod method) {
  switch (method) {
    case EigenMethod::automatic:
      return "auto";
    case EigenMethod::lanczos:
      return "lanczos";
    case EigenMethod::lobpcg:
      break;
  }
  return "lobpcg";
}

/// What to look for, and how.
struct EigenOptions {
  EigenMethod method = EigenMethod::automatic;
  int count = 1;
  SpectrumEnd end = SpectrumEnd::smallest;
  double tolerance = 1e-8;  // ‖A x − θ x‖ <= tolerance · ‖A‖
  double absolute_tolerance = 0;  // of lobpcg: enough, too
  /// Vectors of a block: 1, 2, 4 or 8. One search of lanczos finds at most so many copies of a
  /// value; where it found so many, another one looks for more (but for blocks of one vector).
  int width = 4;
  int subspace = 0;  // vectors of the search space of lanczos; 0: chosen
  int degree = 0;  // of the filter; 0: chosen
  int max_restarts = 100;
  int max_iterations = 500;  // of lobpcg
  Certificate certificate = Certificate::automatic;
  spmv::Mode mode = spmv::Mode::task;
};

/// Vectors that lobpcg begins with. Shape: values: [element_count · count], the entries of a row
/// together.
struct StartVectors {
  std::vector<double> values;
  int count = 0;
};

}  // namespace weft::solver
