#include "solver/amg/coarsening/strong_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::LocalIndex;

/// Less than this share of a diagonal entry is not left over by weak couplings.
constexpr double least_diagonal = 0.1;
/// So many of ten rows, or more, are links where a matrix is one of chains.
constexpr std::int64_t links_of_ten = 9;

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

/// The most that weak couplings may add up to beside chains alone, of a diagonal entry.
constexpr double most_beside_chains = 0.05;

/// `value`, or 0 where `condition` is false.
double value_if(bool condition, double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) &
                               -static_cast<std::uint64_t>(condition));
}

/// Is `value` strong in a row with `strongest`? Without a branch, as all that is done for each
/// entry: no processor foresees which couplings are strong.
bool is_strong(double value, double strongest, double threshold) {
  const double size = strongest > 0 ? -value : std::abs(value);
  return static_cast<int>(size >= threshold * std::abs(strongest)) &
         static_cast<int>(strongest != 0);
}

}  // namespace

/// Strong couplings of a thread.
struct alignas(64) StrongRows::Count {
  std::int64_t all = 0;
  std::int64_t one_way = 0;  // for one of their rows
  std::int64_t coupled_rows = 0;  // with a strong coupling
  std::int64_t links = 0;  // of them, with two at most
  std::int64_t disturbed_rows = 0;  // whose weak couplings count beside chains
};

void StrongRows::find(std::size_t row, const RowValues<double>& strongest, double threshold,
                      Count& count) {
  const double of_row = strongest[row];
  const std::size_t words = first_word(row);
  auto k = static_cast<std::size_t>(rows_.row_offsets[row]);
  std::int32_t dependents = 0;
  std::int64_t strong_count = 0;
  double all = 0;  // the diagonal and the weak couplings
  double diagonal = 0;
  double weak = 0;
  for (std::size_t number = 0; number < word_count(row); ++number) {
    const std::size_t bits =
        std::min(StrongCouplings::word_bits, length(row) - number * StrongCouplings::word_bits);
    Word word = 0;
    for (std::size_t bit = 0; bit < bits; ++bit, ++k) {
      const auto column = static_cast<std::size_t>(rows_.columns[k]);
      const double value = rows_.values[k];
      const bool is_diagonal = column == row;
      const bool is_own = !is_diagonal & is_strong(value, of_row, threshold);
      const bool is_others = !is_diagonal & is_strong(value, strongest[column], threshold);
      const bool is_kept = is_own | is_others;
      word |= static_cast<Word>(is_kept) << bit;
      dependents += is_others;
      count.one_way += is_own ^ is_others;
      all += value_if(!is_kept, value);
      diagonal += value_if(is_diagonal, value);
      weak += value_if(!is_diagonal & !is_kept, std::abs(value));
    }
    words_[words + number] = word;
    strong_count += std::popcount(word);
  }
  dependents_[row] = dependents;
  count.all += strong_count;
  count.coupled_rows += strong_count > 0;
  count.links += strong_count == 1 || strong_count == 2;
  count.disturbed_rows += weak > most_beside_chains * diagonal;
  diagonal_[row] = all >= least_diagonal * diagonal ? all : diagonal;
}

StrongRows::StrongRows(const comm_thread::Crew& crew, const LevelMatrix& level, double threshold)
    : rows_(level.matrix.rows),
      words_(static_cast<std::size_t>(rows_.nonzero_count()) / StrongCouplings::word_bits +
             static_cast<std::size_t>(level.row_count()) + 1),
      diagonal_(static_cast<std::size_t>(level.row_count())),
      dependents_(diagonal_.size()) {
  RowValues<double> strongest(crew, level.plan, level.thread_rows, 0);
  std::vector<Count> counts(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const LocalIndex first = level.thread_rows[index];
    const LocalIndex last = level.thread_rows[index + 1];
    for (LocalIndex row = first; row < last; ++row)
      strongest[static_cast<std::size_t>(row)] = strongest_of(rows_, row);
    strongest.collective_renew(thread);
    for (LocalIndex row = first; row < last; ++row)
      find(static_cast<std::size_t>(row), strongest, threshold, counts[index]);
  });
  std::vector<std::int64_t> sums(5);
  for (const Count& count : counts) {
    sums[0] += count.one_way;
    sums[1] += count.all;
    sums[2] += count.links;
    sums[3] += count.coupled_rows;
    sums[4] += count.disturbed_rows;
  }
  crew.communicator().sum(sums);
  if (sums[1] > 0) one_way_share_ = static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
  has_only_chains_ = sums[3] > 0 && sums[2] == sums[3] && sums[4] == 0;
  is_of_chains_ = sums[3] > 0 && links_of_ten * sums[3] <= 10 * sums[2];
}

}  // namespace weft::solver::amg
