#include "solver/eigen/filtered_lanczos.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/orthonormalised.h"
#include "solver/eigen/panel_column.h"
#include "solver/eigen/powers_of_two.h"
#include "solver/eigen/reported_pairs.h"

namespace weft::solver {
namespace {

int fitting_width(std::int64_t rows, const EigenOptions& options) {
  return rows <= whole_rows ? 1 : options.width;
}

/// Panels of the search space: four times the wanted vectors, and at least 40, where the matrix has
/// so many.
int fitting_panels(std::int64_t rows, const EigenOptions& options) {
  if (rows <= whole_rows) return static_cast<int>(rows);
  const int width = options.width;
  const int wanted = options.subspace > 0 ? options.subspace : std::max(40, 4 * options.count);
  const int least = options.count + 2 * width;
  const auto most = static_cast<int>(std::min<std::int64_t>(rows / 2, 1 << 20));
  return std::max(3, (std::clamp(wanted, std::min(least, most), most) + width - 1) / width);
}

int panels_for(int count, int width) { return (count + width / 2 + width - 1) / width; }

/// Panels of the first search space, at least: with 6 it has missed the far end of the spectrum.
constexpr int first_panels = 10;

/// Panels that survive a restart: half of the space, and the wanted ones with one more.
int kept_of(int panels, int wanted) {
  return std::min(panels, std::max(wanted + 1, (panels + 1) / 2));
}

/// Sums of unknown size that a pass makes at most.
int most_sums(std::int64_t rows, const EigenOptions& options) {
  const int width = fitting_width(rows, options);
  return rows <= whole_rows ? static_cast<int>(rows) : panels_for(options.count, width) * width;
}

/// Panels in memory: the space with what comes next, or what survives, what comes next, and A times
/// the wanted ones. Of a whole matrix the unit vectors, and A times these.
int panels_in_memory(std::int64_t rows, const EigenOptions& options) {
  if (rows <= whole_rows) return 2 * static_cast<int>(rows);
  const int panels = fitting_panels(rows, options);
  const int wanted = std::min(panels, panels_for(options.count, fitting_width(rows, options)));
  return std::max(panels, kept_of(panels, wanted) + wanted) + 1;
}

/// Where a vector of a panel goes of which only the sum is wanted.
SmallMatrix sum_of_panels(int count, int width) {
  SmallMatrix combination(count * width, width);
  for (int i = 0; i < combination.rows(); ++i) combination(i, i % width) = 1;
  return combination;
}

/// The sum of the vectors of the greatest values that fill so many panels, panel on panel.
SmallMatrix sum_of_greatest(const SymmetricEigen& found, int panels, int width) {
  const int count = found.vectors.rows();
  SmallMatrix combination(count, width);
  for (int number = 0; number < panels * width; ++number)
    for (int i = 0; i < count; ++i)
      combination(i, number % width) += found.vectors(i, count - 1 - number);
  return combination;
}

}  // namespace

FilteredLanczos::FilteredLanczos(spmv::SparseOperator& op, const EigenOptions& options,
                                 SearchHooks hooks)
    : op_(op),
      options_(options),
      most_panels_(fitting_panels(op.global_row_count(), options)),
      filter_(op, fitting_width(op.global_row_count(), options), options.mode),
      basis_(op, fitting_width(op.global_row_count(), options),
             panels_in_memory(op.global_row_count(), options),
             most_sums(op.global_row_count(), options)),
      projection_((most_panels_ + 1) * basis_.width(), (most_panels_ + 1) * basis_.width()),
      keeper_(std::move(hooks), op) {
  check_count(op.global_row_count(), options.count);
  filter_.record(keeper_.steps());
  basis_.record(keeper_.steps());
}

void FilteredLanczos::check_count(std::int64_t rows, int count) {
  const std::int64_t most = rows <= whole_rows ? rows : rows / 8;
  if (count > most)
    throw comm_thread::InputError(comm_thread::option_name("count") + ": found " +
                                  std::to_string(count) + "; expected 1 to " +
                                  std::to_string(most) + " for a matrix of " +
                                  std::to_string(rows) + " rows");
}

double FilteredLanczos::vector_count(std::int64_t rows, const EigenOptions& options) {
  constexpr int of_filter = 2;  // T of both last degrees
  return fitting_width(rows, options) * (panels_in_memory(rows, options) + of_filter);
}

double FilteredLanczos::kept_vector_count(std::int64_t rows, const EigenOptions& options) {
  constexpr std::size_t scalars = 22;
  const int width = fitting_width(rows, options);
  const int panels = fitting_panels(rows, options) + 1;
  const auto size = static_cast<std::size_t>(panels) * static_cast<std::size_t>(width);
  const SearchKeeper::Size state{
      .width = width, .panels = panels, .numbers = scalars + size * size};
  return static_cast<double>(state.vector_count(rows));
}

int FilteredLanczos::wanted_panels() const {
  return std::min(panels_for(options_.count, width()), most_panels_);
}

/// Makes the vectors of panel `size_`, which is `y`, orthonormal to all before and to each other.
/// Directions that vanish become random ones. `is_rough`: they may still have parts along those
/// before. False if there is no other vector.
bool FilteredLanczos::collective_append(double* y, bool is_rough) {
  coupling_ = SmallMatrix();
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) {
    is_complete_space_ = true;
    return false;
  }
  coupling_ = collective_orthonormalise(basis_, size_, y, is_rough, random_columns_);
  return true;
}

void FilteredLanczos::collective_start_randomly() {
  size_ = processed_ = 0;
  projection_ = SmallMatrix(projection_.rows(), projection_.columns());
  basis_.fill_columns_randomly(basis_.panel(0), width(), random_columns_);
  random_columns_ += width();
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// Begins with the vectors Q·combination. Shape: combination: [count · width, width].
void FilteredLanczos::collective_start_from(int count, const SmallMatrix& combination) {
  basis_.rotate(count, combination);
  size_ = processed_ = 0;
  projection_ = SmallMatrix(projection_.rows(), projection_.columns());
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// What is known of p(A)·Q for the panel that is processed, from the steps before and the products
/// with itself. Returns the first panel of which something is known.
int FilteredLanczos::take_known() {
  const int before = processed_ * width();
  known_ = SmallMatrix(size_ * width(), width());
  int first = processed_;
  for (int column = 0; column < width(); ++column) {
    for (int row = 0; row < before; ++row) {
      known_(row, column) = projection_(row, before + column);
      if (known_(row, column) != 0) first = std::min(first, row / width());
    }
    for (int row = 0; row < width(); ++row)
      known_(before + row, column) = step_.with_last(row, column);
  }
  return first;
}

/// True if what is left needs no second pass: what was found beside what was known is small beside
/// it, in all directions. Then `factor_` makes it orthonormal.
bool FilteredLanczos::has_orthonormal_rest() {
  constexpr double least = 1e-2;
  constexpr double most_found = 1e-4;
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) return false;
  const Orthonormalised made = orthonormalising(step_.gram, least);
  if (made.dropped > 0) return false;
  for (int column = 0; column < width(); ++column) {
    double square = 0;
    for (int row = 0; row < step_.products.rows(); ++row)
      square += step_.products(row, column) * step_.products(row, column);
    if (!(square <= most_found * most_found * made.smallest * step_.gram(column, column)))
      return false;
  }
  factor_ = made.factor;
  coupling_ = made.inverse;
  return true;
}

/// Processes a panel, and appends what comes next. False if the filter is no finite number
/// somewhere in the spectrum.
bool FilteredLanczos::collective_step() {
  const int last = processed_;
  double* const y = basis_.panel(size_);
  int first_known = 0;
  bool is_appended = false;
  op_.team().run([&](const comm_thread::TeamThread& thread) {
    filter_.collective_apply(thread, polynomial_, basis_.panel(last), y);
    basis_.collective_pair(thread, basis_.panel(last), y, step_);
    if (thread.is_primary()) first_known = take_known();
    thread.barrier();
    basis_.collective_subtract_known(thread, first_known, size_, known_, y, step_);
    basis_.collective_subtract_found(thread, size_, y, step_);
    if (thread.is_primary()) is_appended = has_orthonormal_rest();
    thread.barrier();
    if (is_appended) basis_.multiply(thread, factor_, y);
  });
  for (const double norm : step_.norms)
    if (!std::isfinite(norm)) return false;
  for (int column = 0; column < width(); ++column)
    for (int row = 0; row < known_.rows(); ++row)
      projection_(row, last * width() + column) = known_(row, column) + step_.products(row, column);
  ++processed_;
  if (!is_appended && !collective_append(y, true)) return true;
  for (int row = 0; row < width(); ++row)
    for (int column = 0; column < width(); ++column)
      projection_(last * width() + row, size_ * width() + column) = coupling_(column, row);
  ++size_;
  return true;
}

/// Goes on until `panels` are processed, or the wanted pairs seem to be found, or it is stopped.
void FilteredLanczos::collective_expand(int panels) {
  constexpr int most_looked_at = 64;  // columns of which the eigenvalues take little time
  constexpr double near = 1e4;
  while (processed_ < std::min(panels, size_)) {
    if (!collective_step()) collective_begin_bounded();
    ++steps_;
    if (blocks_ == 1 && distance_ < near && processed_ < panels && processed_ > wanted_panels() &&
        processed_ * width() <= most_looked_at && distance_to_end(found_so_far()) <= 1)
      return;
    if (collective_ends_step()) return;
  }
}

/// Begins again with a filter that is at most 1 on all that a matrix of that norm can have.
void FilteredLanczos::collective_begin_bounded() {
  least_ = -unit_;
  greatest_ = unit_;
  choose_filter(is_smallest() ? least_ : greatest_, damped_from_);
  collective_start_from(size_, sum_of_panels(size_, width()));
  blocks_ = 1;
}

SymmetricEigen FilteredLanczos::projected(int panels) const {
  if (keeper_.steps()) keeper_.steps()->add_dense(panels * width());
  SmallMatrix part(panels * width(), panels * width());
  for (int j = 0; j < part.columns(); ++j)
    for (int i = 0; i <= j; ++i) part(i, j) = projection_(i, j);
  return symmetric_eigen(part);
}

/// Keeps the Ritz vectors of the greatest values of p(A), and the panel that comes next.
void FilteredLanczos::restart(const SymmetricEigen& ritz, int kept_panels) {
  const int count = ritz.vectors.rows();
  const int kept = kept_panels * width();
  const int old = count / width();
  SmallMatrix vectors(count, kept);
  for (int j = 0; j < kept; ++j)
    for (int i = 0; i < count; ++i) vectors(i, j) = ritz.vectors(i, count - 1 - j);
  basis_.rotate(old, vectors);
  const bool has_next = size_ > old;
  if (has_next) basis_.exchange(old, kept_panels);
  const SmallMatrix before =
      std::exchange(projection_, SmallMatrix(projection_.rows(), projection_.columns()));
  for (int j = 0; j < kept; ++j) {
    projection_(j, j) = ritz.values[static_cast<std::size_t>(count - 1 - j)];
    for (int next = 0; has_next && next < width(); ++next)
      for (int i = count - width(); i < count; ++i)
        projection_(j, kept + next) += vectors(i, j) * before(i, count + next);
  }
  processed_ = kept_panels;
  size_ = kept_panels + (has_next ? 1 : 0);
}

FilteredLanczos::Ritz FilteredLanczos::collective_ritz(int panels) {
  const int size = panels * width();
  SmallMatrix projection(size, size);
  for (int p = 0; p < panels; ++p) {
    double* const image = basis_.panel(size_ + p);
    filter_.collective_apply(FilterPolynomial::scaled(unit_), basis_.panel(p), image);
    const SmallMatrix part = basis_.collective_products(panels, image);
    for (int column = 0; column < width(); ++column)
      for (int row = 0; row < size; ++row)
        projection(row, p * width() + column) = part(row, column);
  }
  if (keeper_.steps()) keeper_.steps()->add_dense(size);
  const SymmetricEigen eigen = symmetric_eigen(projection);
  Ritz ritz{.values = {}, .vectors = SmallMatrix(size, size), .residuals = {}};
  for (int j = 0; j < size; ++j) {
    const int from = is_smallest() ? j : size - 1 - j;
    ritz.values.push_back(eigen.values[static_cast<std::size_t>(from)]);
    for (int i = 0; i < size; ++i) ritz.vectors(i, j) = eigen.vectors(i, from);
  }
  ritz.residuals = basis_.collective_residual_norms(size_, ritz.vectors, ritz.values);
  for (double& value : ritz.values) value *= unit_;
  for (double& residual : ritz.residuals) residual *= unit_;
  return ritz;
}

/// Of a Ritz pair of p(A), `number` from the greatest value.
double FilteredLanczos::filtered_residual(const SymmetricEigen& found, int number) const {
  const int size = found.vectors.rows();
  if (size_ * width() <= size) return 0;  // nothing is left beside the basis
  double square = 0;
  for (int column = 0; column < width(); ++column) {
    double entry = 0;
    for (int row = size - width(); row < size; ++row)
      entry += projection_(row, size + column) * found.vectors(row, size - 1 - number);
    square += entry * entry;
  }
  return std::sqrt(square);
}

/// Finds the ends of the spectrum in the first search space, which is that of A.
void FilteredLanczos::collective_look_at_spectrum() {
  if (steps_ == 0) {
    unit_ = power_above(op_.collective_norm());
    polynomial_ = FilterPolynomial::scaled(unit_);
  }
  collective_expand(std::min(most_panels_, std::max(first_panels, wanted_panels() + 2)));
  const SymmetricEigen found = found_so_far();
  const int last = static_cast<int>(found.values.size()) - 1;
  const double wanted_end = value_at(found, 0);
  const double other_end = value_at(found, last);
  norm_ = std::max(std::abs(wanted_end), std::abs(other_end));
  const double beyond_wanted = filtered_residual(found, 0) * unit_;
  const double beyond_other = filtered_residual(found, last) * unit_;
  least_ = is_smallest() ? wanted_end - beyond_wanted : other_end - beyond_other;
  greatest_ = is_smallest() ? other_end + beyond_other : wanted_end + beyond_wanted;
  has_looked_ = true;
}

/// λ outside of the damped interval at which the filter has that value.
double FilteredLanczos::value_of_filter(double filtered) const {
  const double of_chebyshev = std::max(1.0, filtered / polynomial_.factor);
  return polynomial_.center + polynomial_.sign * polynomial_.half *
                                  std::cosh(std::acosh(of_chebyshev) / polynomial_.degree);
}

/// A filter that damps all from `last` on, for wanted values from `first` to before `last`.
void FilteredLanczos::choose_filter(double first, double last) {
  const double begin = is_smallest() ? last : least_;
  const double end = is_smallest() ? greatest_ : last;
  const double ratio = (end - begin) / std::max(std::abs(last - first), 1e-14 * norm_);
  constexpr double least_degree = 4;
  constexpr double most_degree = 400;
  const int degree = options_.degree > 0
                         ? options_.degree
                         : static_cast<int>(std::clamp(std::ceil(2 * std::sqrt(ratio)),
                                                       least_degree, most_degree));
  polynomial_ = FilterPolynomial::damping(begin, end, first, degree);
}

bool FilteredLanczos::is_done(const Ritz& ritz) const {
  if (std::ssize(ritz.residuals) < options_.count) return false;
  for (int i = 0; i < options_.count; ++i)
    if (!(ritz.residuals[static_cast<std::size_t>(i)] <= options_.tolerance * norm_)) return false;
  return true;
}

/// True if the Ritz value after the wanted ones cannot become one of them: it has converged, or its
/// residual is smaller than its distance to the last of them.
bool FilteredLanczos::is_next_known(const Ritz& ritz) const {
  const auto next = static_cast<std::size_t>(options_.count);
  if (next >= ritz.values.size()) return true;
  const double residual = ritz.residuals[next];
  return residual <= options_.tolerance * norm_ ||
         residual < std::abs(ritz.values[next] - ritz.values[next - 1]);
}

/// True if some value has as many copies as all random blocks together have vectors, so that the
/// matrix may have more of them.
bool FilteredLanczos::may_lack_copies(const Ritz& ritz) const {
  if (width() == 1 || is_complete_space_) return false;
  constexpr double equal = 1e-4;  // part of the distance from the first value to the last
  const auto count = static_cast<std::size_t>(options_.count);
  const double near = equal * std::abs(ritz.values[count - 1] - ritz.values[0]);
  int copies = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_copy = i > 0 && std::abs(ritz.values[i] - ritz.values[i - 1]) <=
                                      near + 4 * (ritz.residuals[i] + ritz.residuals[i - 1]);
    copies = is_copy ? copies + 1 : 1;
    if (copies >= blocks_ * width()) return true;
  }
  return false;
}

/// Keeps the wanted pairs and continues with a random block that is orthogonal to them.
void FilteredLanczos::collective_look_for_copies() {
  ++blocks_;
  size_ = processed_ = wanted_panels();
  for (int j = size_ * width(); j < projection_.columns(); ++j)
    for (int i = 0; i < projection_.rows(); ++i) projection_(i, j) = 0;
  double* const next = basis_.panel(size_);
  basis_.fill_columns_randomly(next, width(), random_columns_);
  random_columns_ += width();
  if (collective_append(next, true)) ++size_;
}

/// The largest residual of a wanted pair as a multiple of the tolerance, as it seems to be: that of
/// p(A) divided by the mean slope of p from where it is small to the value.
double FilteredLanczos::distance_to_end(const SymmetricEigen& found) const {
  double largest = 0;
  for (int i = 0; i < options_.count; ++i) {
    const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(i)];
    double slope = 1 / unit_;
    if (filter_count_ > 0)
      slope = (value - polynomial_.factor) / std::abs(value_at(found, i) - damped_from_);
    const double residual = filtered_residual(found, i);
    const double allowed = trust_ * options_.tolerance * norm_ * slope;
    if (residual <= allowed) continue;
    largest = std::max(largest, allowed > 0 ? residual / allowed : HUGE_VAL);
  }
  return largest;
}

/// Ritz pairs of p(A), the wanted ones last; in the first search space those of A, turned around
/// where the smallest are wanted.
SymmetricEigen FilteredLanczos::found_so_far() const {
  SymmetricEigen found = projected(processed_);
  if (!is_smallest() || filter_count_ > 0) return found;
  const int size = found.vectors.columns();
  SymmetricEigen turned{.values = {}, .vectors = SmallMatrix(size, size)};
  for (int j = 0; j < size; ++j) {
    turned.values.push_back(-found.values[static_cast<std::size_t>(size - 1 - j)]);
    for (int i = 0; i < size; ++i) turned.vectors(i, j) = found.vectors(i, size - 1 - j);
  }
  return turned;
}

/// True if the spectrum goes on beyond the interval that is damped, where the filter grows, too.
bool FilteredLanczos::goes_beyond(const Ritz& ritz) const {
  return std::any_of(ritz.values.begin(), ritz.values.end(), [this](double value) {
    return is_smallest() ? value > greatest_ : value < least_;
  });
}

int FilteredLanczos::kept_panels(const SymmetricEigen& found) const {
  return kept_of(found.vectors.rows() / width(), wanted_panels());
}

/// λ of one of the greatest values that are found, `number` from 0.
double FilteredLanczos::value_at(const SymmetricEigen& found, int number) const {
  const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(number)];
  if (filter_count_ > 0) return value_of_filter(value);
  return (is_smallest() ? -value : value) * unit_;
}

/// True if a filter that fits what is found is much better than that in use. `first`, `last`: λ of
/// the first and the last vector that is kept.
bool FilteredLanczos::has_better_filter(double first, double last) const {
  constexpr int most_filters = 4;
  const bool is_better = std::abs(last - first) < 0.4 * std::abs(damped_from_ - first);
  return filter_count_ == 0 || (is_better && filter_count_ < most_filters && blocks_ == 1);
}

/// Takes that filter, and begins a search space with the vectors Q·combination.
void FilteredLanczos::collective_follow(double first, double last, int count,
                                        const SmallMatrix& combination) {
  ++filter_count_;
  damped_from_ = last;
  choose_filter(first, last);
  collective_start_from(count, combination);
}

/// Which of the greatest values that are found the damped interval begins at: the last that is
/// kept; in the first search space, which reaches far inwards, one soon after the wanted ones.
int FilteredLanczos::number_of_last(int kept) const {
  const int last = kept * width() - 1;
  return filter_count_ > 0 ? last : std::min(last, std::max(2 * width() - 1, options_.count));
}

/// Goes from search space to search space until the wanted pairs are found, or it is stopped.
FilteredLanczos::Ritz FilteredLanczos::collective_search(EigenReport& report) {
  for (;; ++restarts_) {
    const SymmetricEigen found = found_so_far();
    if (keeper_.steps()) keeper_.steps()->end_space();
    const int kept = kept_panels(found);
    const double first = value_at(found, 0);
    const double last = value_at(found, number_of_last(kept));
    const bool is_limit = restarts_ >= options_.max_restarts;
    const bool is_last = is_complete_space_ || is_limit || is_stopped_;
    const bool is_beyond = is_smallest() ? first < least_ : first > greatest_;
    if (!is_stopped_) distance_ = distance_to_end(found);
    if (is_last || is_beyond || distance_ <= 1) {
      if (is_limit && !is_stopped_ && distance_ > 1) collective_keep_last();
      restart(found, kept);
      Ritz ritz = collective_ritz(std::min(wanted_panels(), processed_));
      const bool is_found = is_done(ritz);
      const bool is_at_end = is_found && (blocks_ == 1 || is_next_known(ritz));
      const bool is_settled = is_at_end && !may_lack_copies(ritz);
      if (is_stopped_) report.status = SolveStatus::stopped;
      if (is_stopped_ ? is_settled : is_found) report.status = SolveStatus::converged;
      if (is_last || is_settled) return ritz;
      if (is_at_end) {
        collective_look_for_copies();
      } else if (!is_found) {
        trust_ /= 4;
        if (filter_count_ > 0 && goes_beyond(ritz))
          collective_begin_bounded();
        else if (has_better_filter(first, last))
          collective_follow(first, last, kept, sum_of_panels(kept, width()));
      }
    } else if (has_better_filter(first, last)) {
      collective_follow(first, last, found.vectors.rows() / width(),
                        sum_of_greatest(found, kept, width()));
    } else {
      restart(found, kept);
    }
    collective_expand(most_panels_);
  }
}

/// All pairs of a small matrix.
FilteredLanczos::Ritz FilteredLanczos::collective_search_whole(EigenReport& report) {
  unit_ = power_above(op_.collective_norm());
  polynomial_ = FilterPolynomial::scaled(unit_);
  basis_.set_unit_vectors(most_panels_);
  size_ = processed_ = most_panels_;
  Ritz ritz = collective_ritz(most_panels_);
  norm_ = std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back()));
  if (is_done(ritz)) report.status = SolveStatus::converged;
  report.is_whole = true;
  return ritz;
}

/// From a random block or the state of a checkpoint on.
FilteredLanczos::Ritz FilteredLanczos::collective_search_space(EigenReport& report) {
  if (!collective_take_state()) collective_start_randomly();
  if (has_looked_) {
    collective_expand(most_panels_);
    ++restarts_;
  } else {
    collective_look_at_spectrum();
  }
  return collective_search(report);
}

EigenReport FilteredLanczos::collective_solve() {
  const perfmodel::Stopwatch watch;
  EigenReport report{.method = name(EigenMethod::lanczos),
                     .status = SolveStatus::not_converged,
                     .explanation = "",
                     .pairs = {},
                     .width = width(),
                     .subspace = most_panels_ * width()};
  const bool is_small = op_.global_row_count() <= whole_rows;
  const Ritz ritz = is_small ? collective_search_whole(report) : collective_search_space(report);
  basis_.rotate(ritz.vectors.columns() / width(), ritz.vectors);
  std::vector<EigenPair> pairs;
  for (std::size_t i = 0; i < ritz.values.size(); ++i)
    pairs.push_back({ritz.values[i], ritz.residuals[i], ritz.residuals[i]});
  order_ = report_pairs(pairs, options_.count, options_.tolerance * norm_, report);
  report.orthogonality =
      basis_.collective_orthogonality(std::min(wanted_panels(), processed_) * width());
  report.norm = norm_;
  for (const double value : ritz.values) report.norm = std::max(report.norm, std::abs(value));
  report.products = product_count();
  report.restarts = restarts_;
  report.degree = polynomial_.degree;
  report.blocks = blocks_;
  report.seconds = watch.seconds();
  return report;
}

std::vector<double> FilteredLanczos::collective_vector(int number) const {
  const int column = order_[static_cast<std::size_t>(number)];
  return collective_signed_column(op_, basis_.panel(column / width()), width(), column % width());
}

}  // namespace weft::solver
