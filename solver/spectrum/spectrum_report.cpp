#include "solver/spectrum/spectrum_report.h"

#include <fmt/format.h>

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

int digits_to_tell(const std::vector<double>& numbers) {
  constexpr int least = 6;
  constexpr int most = 17;  // tells all doubles apart
  int digits = least;
  const auto reads_the_same = [&](double one, double other) {
    return one != other &&
           fmt::format("{:.{}g}", one, digits) == fmt::format("{:.{}g}", other, digits);
  };
  for (std::size_t i = 1; i < numbers.size(); ++i)
    while (digits < most && reads_the_same(numbers[i - 1], numbers[i])) ++digits;
  return digits;
}

int digits_to_tell(const std::vector<SpectrumPiece>& pieces) {
  std::vector<double> ends;
  for (const SpectrumPiece& piece : pieces) {
    ends.push_back(piece.begin);
    ends.push_back(piece.end);
  }
  return digits_to_tell(ends);
}

}  // namespace weft::solver
