#include "solver/eigen/filtered_lanczos.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/reported_pairs.h"
#include "solver/panels/orthonormalised.h"
#include "solver/panels/panel_column.h"
#include "solver/panels/powers_of_two.h"

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
  constexpr std::size_t scalars = 23;
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

/// Begins again with a filter that is at most 1 on all that a matrix of that norm can have.
void FilteredLanczos::collective_begin_bounded() {
  least_ = -unit_;
  greatest_ = unit_;
  choose_filter(is_smallest() ? least_ : greatest_, damped_from_);
  collective_start_from(size_, sum_of_panels(size_, width()));
  blocks_ = 1;
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

/// Of so many panels, those that survive a restart.
int FilteredLanczos::kept_panels(int panels) const { return kept_of(panels, wanted_panels()); }

/// Goes from search space to search space until the wanted pairs are found, or it is stopped.
FilteredLanczos::Ritz FilteredLanczos::collective_search(EigenReport& report) {
  for (;; ++restarts_) {
    const SymmetricEigen found = found_so_far();
    if (keeper_.steps()) keeper_.steps()->end_space();
    const int kept = kept_panels(found.vectors.rows() / width());
    const double first = value_at(found, 0);
    const double last = damping_from(found, kept);
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
    ++spaces_;
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
  if (!collective_take_state()) {
    unit_ = power_above(op_.collective_norm());
    polynomial_ = FilterPolynomial::scaled(unit_);
    has_looked_ = collective_estimate();
    if (has_looked_ && keeper_.steps()) keeper_.steps()->end_space();
    collective_start_randomly();
  }
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
  const auto count = static_cast<int>(ritz.values.size());
  basis_.release_panels_from((count + width() - 1) / width());  // certificates need memory, too
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
