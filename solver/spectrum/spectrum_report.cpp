#include "solver/spectrum/spectrum_report.h"

#include "solver/spectrum/kernel_polynomial.h"

namespace weft::solver {

std::vector<SpectrumPiece> pieces_of(const SpectrumReport& report, std::size_t count) {
  const std::size_t points = report.energies.size();
  const double step = 2 * report.interval.half() / static_cast<double>(points);
  std::vector<SpectrumPiece> pieces;
  for (std::size_t number = 0; number < count; ++number) {
    const std::size_t first = number * points / count;
    const std::size_t last = (number + 1) * points / count;
    SpectrumPiece piece{.begin = report.interval.least + step * static_cast<double>(first),
                        .end = report.interval.least + step * static_cast<double>(last)};
    piece.content =
        density_integral(report.smooth_moments, report.interval, piece.begin, piece.end);
    for (std::size_t i = first; i < last && !report.error.empty(); ++i)
      piece.error += step * report.error[i];
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace weft::solver
