#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/eigen/eigen_report.h"
#include "solver/eigen/energy_range.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// How eigenvalues are searched for. automatic: lobpcg where there is a mass matrix or a
/// preconditioner, filter in the interior of the spectrum, else lanczos.
enum class EigenMethod { automatic, lanczos, lanczos_two_pass, lobpcg, filter };

inline const char* name(EigenMethod method) {
  switch (method) {
    case EigenMethod::automatic:
      return "auto";
    case EigenMethod::lanczos:
      return "lanczos";
    case EigenMethod::lanczos_two_pass:
      return "lanczos-two-pass";
    case EigenMethod::lobpcg:
      return "lobpcg";
    case EigenMethod::filter:
      break;
  }
  return "filter";
}

/// Matrices of at most so many rows are solved whole: all pairs are found at once, of which some
/// are taken. By lobpcg they are only where its three blocks would not fit.
inline constexpr std::int64_t whole_rows = 256;

/// Which part of the spectrum is looked for: values from one end or from both, or those nearest to
/// a number.
enum class SpectrumPart { end, both, near };

/// What to look for, and how.
struct EigenOptions {
  EigenMethod method = EigenMethod::automatic;
  int count = 1;
  SpectrumPart part = SpectrumPart::end;
  SpectrumEnd end = SpectrumEnd::smallest;
  double sigma = 0;  // the number to be near to
  /// All eigenvalues in it, its ends included, instead of `count` ones.
  std::optional<EnergyRange> interval{};
  double tolerance = 1e-8;  // ‖A x − θ x‖ <= tolerance · ‖A‖
  double absolute_tolerance = 0;  // of lobpcg: enough, too
  /// Vectors of a block: 1, 2, 4 or 8. One search of lanczos finds at most so many copies of a
  /// value; where it found so many, another one looks for more (but for blocks of one vector).
  int width = 4;
  int subspace = 0;  // vectors of the search space of lanczos; 0: chosen
  int degree = 0;  // of the filter; 0: chosen
  int max_restarts = 100;
  int max_iterations = 500;  // of lobpcg; of four steps of a pass of lanczos-two-pass
  Certificate certificate = Certificate::automatic;
  spmv::Mode mode = spmv::Mode::task;

  /// True for values that may be anywhere in the spectrum.
  bool is_interior() const { return interval || part == SpectrumPart::near; }
};

}  // namespace weft::solver
