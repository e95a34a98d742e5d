#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/spectrum/spectral_interval.h"

namespace weft::solver {

/// About how many eigenvalues lie in an interval.
struct EigenvalueCount {
  double begin = 0;
  double end = 0;
  double value = 0;
  /// Standard deviation of `value` by the choice of random vectors.
  double random_error = 0;
  /// What peaks that are not sharp move across both ends, at most: it does not fall with the number
  /// of vectors, but with that of the moments.
  double blur = 0;

  /// Half of the width of an interval of confidence: twice the one and the other.
  double uncertainty() const { return 2 * random_error + blur; }
};

/// A density over energies; the same on every rank except the time.
struct SpectrumReport {
  SpectralInterval interval;  // in which all eigenvalues lie
  std::vector<double> energies;  // the middles of equal parts of it
  std::vector<double> density;  // a unit of energy
  /// Standard deviation of each by the choice of random vectors; empty where there is one vector.
  std::vector<double> error;
  std::vector<double> moments;  // without a kernel, the mean of all vectors
  std::vector<double> smooth_moments;  // these times the factors of the kernel
  double resolution = 0;  // width of a peak in the middle of the interval
  std::optional<EigenvalueCount> count{};
  std::int64_t products = 0;  // A·x for one vector
  int width = 0;  // vectors of a block, at most
  bool is_widest = false;  // ±‖A‖∞ took the place of an interval that did not hold the spectrum
  double seconds = 0;
};

/// A piece of the interval, and the integral of the density over it.
struct SpectrumPiece {
  double begin = 0;
  double end = 0;
  double content = 0;
  double error = 0;  // at most how much the choice of random vectors may change `content`
};

/// The interval in `count` pieces of equal numbers of energies. `count`: 1 to that of the energies.
std::vector<SpectrumPiece> pieces_of(const SpectrumReport& report, std::size_t count);

/// Significant decimal digits, 6 to 17, with which no two neighbours that differ read the same.
int digits_to_tell(const std::vector<double>& numbers);
/// The same for the ends of pieces.
int digits_to_tell(const std::vector<SpectrumPiece>& pieces);

}  // namespace weft::solver
