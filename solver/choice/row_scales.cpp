#include "solver/choice/row_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::LocalIndex;

/// Binary places between scales from which rows differ too much for one norm.
constexpr int most_places = 20;
const double most_ratio = std::ldexp(1.0, most_places);
/// Binary places above the others from which a row counts as of another scale, and above the other
/// entries of a row from which its diagonal entry is a penalty. Poisson's equation on 60 x 60
/// points with a penalty of 1e6, 2^18 times the others: cg with jacobi ends at 1e-8 of b with an
/// error of 3e-2 of x, minres with 0.9.
constexpr int same_scale = 10;
const double least_penalty = std::ldexp(1.0, same_scale);

/// Exponents of doubles, and one more for rows of zeros.
constexpr int least_exponent =
    std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;
constexpr int exponent_count = std::numeric_limits<double>::max_exponent - least_exponent + 1;

/// False where the traits show that all scales are close to each other.
bool may_differ(const MatrixTraits& traits) {
  return !(traits.largest_diagonal < least_penalty * traits.least_diagonal) ||
         traits.least_excess < -most_ratio;
}

/// What a row says of its scale.
struct RowLook {
  int exponent = least_exponent - 1;  // of its scale; less than all where it is 0
  double penalty = 0;
  bool is_finite = true;
};

RowLook look_at(const spmv::CrsMatrix& rows, LocalIndex row, bool is_symmetric) {
  double diagonal = 0;
  double largest = 0;
  double others = 0;
  const auto i = static_cast<std::size_t>(row);
  for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
       k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k) {
    const double value = rows.values[k];
    largest = std::max(largest, std::abs(value));
    if (rows.columns[k] == row)
      diagonal = value;
    else
      others += std::abs(value);
  }
  RowLook look;
  look.is_finite = std::isfinite(diagonal) && std::isfinite(others);
  const double magnitude = std::abs(diagonal);
  const double scale = is_symmetric && most_ratio * magnitude >= largest ? magnitude : largest;
  if (scale > 0 && look.is_finite) std::frexp(scale, &look.exponent);
  if (magnitude > 0 && magnitude >= least_penalty * others) look.penalty = diagonal;
  return look;
}

/// How many rows have a scale of each exponent.
using Histogram = std::array<std::int64_t, exponent_count>;

/// The exponent that half of the rows do not exceed.
int median(const Histogram& counts) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  std::int64_t seen = 0;
  for (int i = 0; i < exponent_count; ++i) {
    seen += counts[static_cast<std::size_t>(i)];
    if (2 * seen >= all && seen > 0) return least_exponent + i;
  }
  return 0;
}

/// Calls work(row) for the rows of a thread.
template <class Work>
void for_rows(const spmv::SparseOperator& op, const TeamThread& thread, const Work& work) {
  const auto bounds = op.matrix().thread_rows();
  const auto index = static_cast<std::size_t>(thread.index);
  for (LocalIndex row = bounds[index]; row < bounds[index + 1]; ++row) work(row);
}

/// Rows by the exponent of their scale: those with a penalty, and the others.
struct ScaleCounts {
  Histogram others{};
  Histogram all{};
  Histogram penalties{};
};

/// Puts exponents and penalties of own rows where the weights and penalties of `scales` are, and
/// counts those of all ranks; nothing if a row is not finite. Collective.
std::optional<ScaleCounts> collective_look_at_rows(const spmv::SparseOperator& op,
                                                   bool is_symmetric, RowScales& scales) {
  const spmv::CrsMatrix& rows = op.matrix().matrix().rows;
  std::vector<std::int64_t> strange(static_cast<std::size_t>(op.team().thread_count()));
  op.team().run([&](const TeamThread& thread) {
    for_rows(op, thread, [&](LocalIndex row) {
      const RowLook look = look_at(rows, row, is_symmetric);
      const auto i = static_cast<std::size_t>(row);
      scales.weight[i] = look.exponent;
      scales.penalty[i] = look.penalty;
      if (!look.is_finite) ++strange[static_cast<std::size_t>(thread.index)];
    });
  });
  std::vector<std::int64_t> counts(2 * exponent_count + 1);  // of other rows, of penalties, strange
  for (const std::int64_t found : strange) counts.back() += found;
  for (std::size_t i = 0; i < op.element_count(); ++i) {
    const int exponent = static_cast<int>(scales.weight[i]) - least_exponent;
    if (exponent < 0) continue;
    const std::size_t kind = scales.penalty[i] != 0 ? exponent_count : 0;
    ++counts[kind + static_cast<std::size_t>(exponent)];
  }
  op.communicator().sum(counts);
  if (counts.back() > 0) return std::nullopt;
  ScaleCounts found;
  for (std::size_t i = 0; i < exponent_count; ++i) {
    found.others[i] = counts[i];
    found.penalties[i] = counts[exponent_count + i];
    found.all[i] = found.others[i] + found.penalties[i];
  }
  return found;
}

bool has_some(std::int64_t found) { return found > 0; }

/// The places between the smallest and the largest scale.
int spread_of(const Histogram& counts) {
  const auto smallest = std::ranges::find_if(counts, has_some) - counts.begin();
  auto largest = exponent_count - 1;
  while (largest > 0 && counts[static_cast<std::size_t>(largest)] == 0) --largest;
  return static_cast<int>(largest - smallest);
}

/// True where a row has a scale 2^10 times that of most rows, or one part in 2^10.
bool is_far(int exponent, int reference) { return std::abs(exponent - reference) >= same_scale; }

/// True where each row is scaled. Sums over rows that are 2^10 apart tell little of the smaller
/// ones. Where rows may be scaled without their columns, each is; a symmetric matrix keeps the
/// couplings that it was made with.
bool must_scale_each_row(const Histogram& others, bool is_symmetric, int reference) {
  if (is_symmetric) return false;
  for (int i = 0; i < exponent_count; ++i)
    if (others[static_cast<std::size_t>(i)] > 0 && is_far(least_exponent + i, reference))
      return true;
  return false;
}

/// Makes factors of the exponents, relative to that of the rows that stay. Collective.
void collective_make_factors(const spmv::SparseOperator& op, bool is_symmetric, int reference,
                             bool scales_each_row, RowScales& scales) {
  std::array<std::int64_t, 2> scaled{};  // rows, and those beside the penalties
  for (std::size_t i = 0; i < op.element_count(); ++i) {
    const auto exponent = static_cast<int>(scales.weight[i]);
    const int places = exponent - reference;
    const bool is_zero = exponent < least_exponent;
    const bool is_close = is_zero || (scales_each_row ? places == 0 : !is_far(exponent, reference));
    // An even exponent of a symmetric matrix has a root.
    const int half = is_close ? 0 : places / 2;
    const int whole = is_close ? 0 : places;
    scales.left[i] = std::ldexp(1.0, is_symmetric ? -half : -whole);
    scales.right[i] = is_symmetric ? scales.left[i] : 1;
    scales.weight[i] = scales.left[i] * scales.right[i];
    if (is_close) continue;
    ++scaled[0];
    scaled[1] += static_cast<std::int64_t>(scales.penalty[i] == 0);
  }
  op.communicator().sum(scaled);
  scales.scaled_row_count = scaled[0];
  scales.has_other_rows = scaled[1] > 0;
  scales.has_scaled_penalties = scaled[0] > scaled[1];
}

}  // namespace

double RowScales::ratio() const { return std::ldexp(1.0, spread); }

void RowScales::keep_values() {
  std::ranges::fill(left.span(), 1.0);
  std::ranges::fill(right.span(), 1.0);
  scaled_row_count = 0;
  has_other_rows = false;
  has_scaled_penalties = false;
}

std::optional<RowScales> collective_find_row_scales(const spmv::SparseOperator& op,
                                                    const MatrixTraits& traits) {
  if (!may_differ(traits)) return std::nullopt;
  const std::size_t count = op.element_count();
  RowScales scales{.left = perfmodel::HugePageBuffer<double>(count),
                   .right = perfmodel::HugePageBuffer<double>(count),
                   .weight = perfmodel::HugePageBuffer<double>(count),
                   .penalty = perfmodel::HugePageBuffer<double>(count)};
  const auto counts = collective_look_at_rows(op, traits.is_symmetric(), scales);
  if (!counts) return std::nullopt;
  scales.spread = spread_of(counts->all);
  const int reference =
      median(std::ranges::any_of(counts->others, has_some) ? counts->others : counts->all);
  const auto far = static_cast<std::size_t>(
      std::clamp(reference + same_scale - least_exponent, 0, exponent_count));
  const bool has_penalties =
      std::ranges::any_of(std::span(counts->penalties).subspan(far), has_some);
  if (scales.spread < most_places && !has_penalties) return std::nullopt;
  collective_make_factors(op, traits.is_symmetric(), reference,
                          must_scale_each_row(counts->others, traits.is_symmetric(), reference),
                          scales);
  return scales;
}

}  // namespace weft::solver
