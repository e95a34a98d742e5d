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

/// An eigenvalue θ of a symmetric A, or of A·x = λ·B·x, with a vector x of norm 1.
struct EigenPair {
  double value = 0;
  /// ‖A x − θ x‖, recomputed from x: an eigenvalue of A lies within this distance of θ. With a mass
  /// matrix ‖A x − θ B x‖.
  double residual = 0;
  /// How far θ may be from the eigenvalue that it stands for; see `Completeness`.
  double error_bound = 0;
};

/// Whether the values found are all up to the last, each as often as it occurs. Where that is
/// shown, the error bound of a value is that to the eigenvalue of the same number; else that to
/// some eigenvalue.
struct Completeness {
  bool is_shown = false;
  std::int64_t missing = 0;  // values that were not found, but are shown to be there
  std::string statement = "not shown to be complete";
  std::string why = "nothing was counted";  // a clause
  double bytes = 0;  // that rank 0 took for it at its peak
};

/// Whether eigenvalues are counted, by the signs of the pivots of a factorization of one rank.
/// automatic: where it takes little time beside the search. inertia: where it fits.
enum class Certificate { automatic, inertia, none };

inline const char* name(Certificate certificate) {
  switch (certificate) {
    case Certificate::automatic:
      return "auto";
    case Certificate::inertia:
      return "inertia";
    case Certificate::none:
      break;
  }
  return "none";
}

/// Outcome of a search for eigenvalues; the same on every rank.
struct EigenReport {
  std::string method = "lanczos";
  std::string why_method{};  // why it was chosen, a clause
  SolveStatus status = SolveStatus::not_converged;
  std::string explanation;
  /// From the end of the spectrum inwards; in ascending order where there is not one end.
  std::vector<EigenPair> pairs;
  /// Ritz pairs that come next, which nobody asked for and which may be far off.
  std::vector<EigenPair> next{};
  /// max |XᵀX − I| of the vectors.
  double orthogonality = 0;
  Completeness completeness{};
  /// ‖A‖, which tolerances refer to: of filter and lobpcg a bound, else the largest |Ritz value|.
  /// Lanczos stops by that of its look at the spectrum, which may be a little less.
  double norm = 0;
  double least_of_mass = 1;  // about the least eigenvalue of B, which error bounds rest on
  std::int64_t products = 0;  // A·x for one vector
  int restarts = 0;  // of the search space; steps of lobpcg
  int degree = 0;  // of the last filter
  int width = 0;  // vectors of a block
  int blocks = 1;  // random blocks that the search began with; each finds up to `width` copies
  int subspace = 0;  // vectors of the search space
  bool is_whole = false;  // which is all there is, so that nothing was searched for
  double seconds = 0;
};

}  // namespace weft::solver
