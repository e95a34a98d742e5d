#include "solver/amg/strong_rows.h"

#include <algorithm>
#include <cmath>

#include "solver/amg/row_values.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::LocalIndex;

/// Less than this share of a diagonal entry is not left over by weak couplings.
constexpr double least_diagonal = 0.1;

/// The strongest coupling of a row: of −a_ik where one is positive, else −max|a_ik|.
double strongest_of(const spmv::CrsMatrix& rows, LocalIndex row) {
  double negative = 0;
  double magnitude = 0;
  for (auto k = rows.row_offsets[static_cast<std::size_t>(row)];
       k < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
    const auto place = static_cast<std::size_t>(k);
    if (rows.columns[place] == row) continue;
    negative = std::max(negative, -rows.values[place]);
    magnitude = std::max(magnitude, std::abs(rows.values[place]));
  }
  return negative > 0 ? negative : -magnitude;
}

/// Is `value` strong in a row with `strongest`?
bool is_strong(double value, double strongest, double threshold) {
  return strongest > 0   ? -value >= threshold * strongest
         : strongest < 0 ? std::abs(value) >= -threshold * strongest
                         : false;
}

}  // namespace

StrongRows::StrongRows(Crew& crew, const LevelMatrix& level, double threshold)
    : offsets_(level.matrix.rows.row_offsets.span()),
      ends_(static_cast<std::size_t>(level.row_count())),
      columns_(static_cast<std::size_t>(level.matrix.rows.nonzero_count())),
      values_(columns_.size()),
      diagonal_(ends_.size()) {
  const spmv::CrsMatrix& rows = level.matrix.rows;
  RowValues<double> strongest(crew, level.plan, level.thread_rows, 0);
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const LocalIndex first = level.thread_rows[index];
    const LocalIndex last = level.thread_rows[index + 1];
    for (LocalIndex row = first; row < last; ++row)
      strongest[static_cast<std::size_t>(row)] = strongest_of(rows, row);
    strongest.collective_renew(thread);
    for (LocalIndex row = first; row < last; ++row) {
      const auto i = static_cast<std::size_t>(row);
      std::size_t end = begin(i);
      double all = 0;  // the diagonal and the weak couplings
      double diagonal = 0;
      for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
           k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k) {
        const LocalIndex column = rows.columns[k];
        const double value = rows.values[k];
        if (column == row) {
          diagonal += value;
          all += value;
        } else if (is_strong(value, strongest[i], threshold) ||
                   is_strong(value, strongest[static_cast<std::size_t>(column)], threshold)) {
          columns_[end] = column;
          values_[end++] = value;
        } else {
          all += value;
        }
      }
      ends_[i] = end;
      diagonal_[i] = all >= least_diagonal * diagonal ? all : diagonal;
    }
  });
}

}  // namespace weft::solver::amg
