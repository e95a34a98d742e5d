#include "solver/eigen/filtered_lanczos.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "perfmodel/stopwatch.h"

namespace weft::solver {
namespace {

/// Matrices of at most so many rows are searched whole, one vector at a time.
constexpr std::int64_t whole_rows = 256;

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

/// D·U·Λ^−½ for the Gram matrix G = D⁻¹·U·Λ·Uᵀ·D⁻¹ of vectors, by which they become orthonormal;
/// columns of directions below `least` of the largest are zero. Returns how many are.
int orthonormalising(const SmallMatrix& gram, double least, double& smallest, SmallMatrix& factor) {
  const int size = gram.rows();
  std::vector<double> scale;
  for (int i = 0; i < size; ++i) scale.push_back(gram(i, i) > 0 ? 1 / std::sqrt(gram(i, i)) : 0.0);
  SmallMatrix correlation(size, size);
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i)
      correlation(i, j) =
          gram(i, j) * scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
  const SymmetricEigen eigen = symmetric_eigen(correlation);
  smallest = eigen.values.front();
  factor = SmallMatrix(size, size);
  int dropped = 0;
  for (int j = 0; j < size; ++j) {
    const double value = eigen.values[static_cast<std::size_t>(j)];
    if (!(value > least)) {
      ++dropped;
      continue;
    }
    for (int i = 0; i < size; ++i)
      factor(i, j) = scale[static_cast<std::size_t>(i)] * eigen.vectors(i, j) / std::sqrt(value);
  }
  return dropped;
}

}  // namespace

FilteredLanczos::FilteredLanczos(spmv::SparseOperator& op, const EigenOptions& options)
    : op_(op),
      options_(options),
      most_panels_(fitting_panels(op.global_row_count(), options)),
      filter_(op, fitting_width(op.global_row_count(), options), options.mode),
      basis_(op, fitting_width(op.global_row_count(), options), most_panels_ + 2),
      images_(op, fitting_width(op.global_row_count(), options),
              panels_for(options.count, basis_.width())),
      projection_(basis_.panel_count() * basis_.width(), basis_.panel_count() * basis_.width()) {
  const std::int64_t rows = op.global_row_count();
  const std::int64_t most = rows <= whole_rows ? rows : rows / 8;
  if (options.count > most)
    throw comm_thread::InputError(comm_thread::option_name("count") + ": found " +
                                  std::to_string(options.count) + "; expected 1 to " +
                                  std::to_string(most) + " for a matrix of " +
                                  std::to_string(rows) + " rows");
}

double FilteredLanczos::vector_count(std::int64_t rows, const EigenOptions& options) {
  const int width = fitting_width(rows, options);
  constexpr int others = 2 + 2;  // what comes next, room for a product; T of both last degrees
  return width * (fitting_panels(rows, options) + others + panels_for(options.count, width));
}

int FilteredLanczos::wanted_panels() const {
  return std::min(panels_for(options_.count, width()), most_panels_);
}

/// Makes the vectors of panel `size_`, which is `y`, orthonormal to all before and to each other.
/// Directions that vanish become random ones. `is_rough`: they may still have parts along those
/// before. False if there is no other vector.
bool FilteredLanczos::collective_append(double* y, bool is_rough) {
  constexpr double least = 1e-6;
  constexpr double well_apart = 0.1;
  constexpr int most_tries = 8;
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) {
    is_complete_space_ = true;
    return false;
  }
  bool is_orthogonal = false;
  for (int tries = 0; tries < most_tries && !is_orthogonal; ++tries) {
    double smallest = 0;
    SmallMatrix factor;
    const int dropped = orthonormalising(basis_.collective_gram(y), least, smallest, factor);
    basis_.multiply(factor, y);
    if (dropped > 0) {
      basis_.fill_columns_randomly(y, dropped, random_columns_);
      random_columns_ += dropped;
    }
    is_orthogonal = tries > 0 && dropped == 0 && smallest > well_apart && !is_rough;
    if (dropped > 0 || smallest <= well_apart || is_rough)
      basis_.subtract(size_, basis_.collective_products(size_, y), y);
    is_rough = dropped > 0;
  }
  return true;
}

void FilteredLanczos::collective_start_randomly() {
  size_ = processed_ = 0;
  basis_.fill_columns_randomly(basis_.panel(0), width(), random_columns_);
  random_columns_ += width();
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// Begins with the vectors Q·combination. Shape: combination: [count · width, width].
void FilteredLanczos::collective_start_from(int count, const SmallMatrix& combination) {
  basis_.rotate(count, combination);
  size_ = processed_ = 0;
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// Goes on until `panels` are processed.
void FilteredLanczos::collective_expand(int panels) {
  while (processed_ < std::min(panels, size_)) {
    double* const y = basis_.panel(size_);
    filter_.collective_apply(polynomial_, basis_.panel(processed_), y);
    SmallMatrix c = basis_.collective_products(size_, y);
    basis_.subtract(size_, c, y);
    const SmallMatrix again = basis_.collective_products(size_, y);
    basis_.subtract(size_, again, y);
    double first_square = 0;
    double second_square = 0;
    for (int column = 0; column < width(); ++column)
      for (int row = 0; row < c.rows(); ++row) {
        projection_(row, processed_ * width() + column) = c(row, column) + again(row, column);
        first_square += c(row, column) * c(row, column);
        second_square += again(row, column) * again(row, column);
      }
    ++processed_;
    if (processed_ < size_ || size_ + 1 >= basis_.panel_count()) continue;
    // What the second pass found is no longer small beside what is left.
    const SmallMatrix left = basis_.collective_gram(y);
    bool is_rough = false;
    for (int column = 0; column < width(); ++column)
      is_rough = is_rough || left(column, column) < 100 * second_square ||
                 left(column, column) < 1e-24 * first_square;
    if (collective_append(y, is_rough)) ++size_;
  }
}

SymmetricEigen FilteredLanczos::projected(int panels) const {
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
  projection_ = SmallMatrix(projection_.rows(), projection_.columns());
  for (int j = 0; j < kept; ++j)
    projection_(j, j) = ritz.values[static_cast<std::size_t>(count - 1 - j)];
  processed_ = kept_panels;
  size_ = kept_panels + (has_next ? 1 : 0);
}

FilteredLanczos::Ritz FilteredLanczos::collective_ritz(int panels) {
  const int size = panels * width();
  SmallMatrix projection(size, size);
  std::vector<const double*> products;
  for (int p = 0; p < panels; ++p) {
    filter_.collective_apply(FilterPolynomial::identity(), basis_.panel(p), images_.panel(p));
    products.push_back(images_.panel(p));
    const SmallMatrix part = basis_.collective_products(panels, images_.panel(p));
    for (int column = 0; column < width(); ++column)
      for (int row = 0; row < size; ++row)
        projection(row, p * width() + column) = part(row, column);
  }
  const SymmetricEigen eigen = symmetric_eigen(projection);
  Ritz ritz{.values = {}, .vectors = SmallMatrix(size, size), .residuals = {}};
  for (int j = 0; j < size; ++j) {
    const int from = is_smallest() ? j : size - 1 - j;
    ritz.values.push_back(eigen.values[static_cast<std::size_t>(from)]);
    for (int i = 0; i < size; ++i) ritz.vectors(i, j) = eigen.vectors(i, from);
  }
  ritz.residuals = basis_.collective_residual_norms(products, ritz.vectors, ritz.values);
  return ritz;
}

/// Finds the ends of the spectrum in the first search space, which is that of A.
void FilteredLanczos::collective_look_at_spectrum() {
  polynomial_ = FilterPolynomial::identity();
  collective_expand(most_panels_);
  const int panels = processed_;
  const SymmetricEigen ritz = projected(panels);
  least_ = ritz.values.front();
  greatest_ = ritz.values.back();
  norm_ = std::max(std::abs(least_), std::abs(greatest_));
  if (is_complete_space_) return;
  collective_expand(most_panels_ + 1);
  const auto distance = [&](int of) {  // of a Ritz pair from an eigenvalue
    double square = 0;
    for (int column = 0; column < width(); ++column) {
      double entry = 0;
      for (int row = 0; row < width(); ++row)
        entry += projection_((panels - 1) * width() + row, panels * width() + column) *
                 ritz.vectors((panels - 1) * width() + row, of);
      square += entry * entry;
    }
    return std::sqrt(square);
  };
  greatest_ += distance(panels * width() - 1);
  least_ -= distance(0);
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
                         : static_cast<int>(std::clamp(std::ceil(3 * std::sqrt(ratio)),
                                                       least_degree, most_degree));
  polynomial_ = FilterPolynomial::damping(begin, end, first, degree);
}

bool FilteredLanczos::is_done(const Ritz& ritz) const {
  for (int i = 0; i < options_.count; ++i)
    if (!(ritz.residuals[static_cast<std::size_t>(i)] <= options_.tolerance * norm_)) return false;
  return true;
}

/// Ritz values of the first search space, negative ones where the smallest are wanted: the greatest
/// are the wanted ones, as with a filter.
SymmetricEigen FilteredLanczos::best_of_spectrum() const {
  SymmetricEigen found = projected(std::min(processed_, most_panels_));
  if (!is_smallest()) return found;
  const int size = found.vectors.columns();
  SymmetricEigen turned{.values = {}, .vectors = SmallMatrix(size, size)};
  for (int j = 0; j < size; ++j) {
    turned.values.push_back(-found.values[static_cast<std::size_t>(size - 1 - j)]);
    for (int i = 0; i < size; ++i) turned.vectors(i, j) = found.vectors(i, size - 1 - j);
  }
  return turned;
}

/// True if the spectrum goes on beyond the interval that is damped, where the filter grows, too:
/// then the ends are what no eigenvalue is beyond.
bool FilteredLanczos::collective_widen(const Ritz& ritz) {
  const bool is_beyond = std::any_of(ritz.values.begin(), ritz.values.end(), [this](double value) {
    return is_smallest() ? value > greatest_ : value < least_;
  });
  if (!is_beyond) return false;
  const double most = op_.collective_norm();
  least_ = -most;
  greatest_ = most;
  return true;
}

/// Panels that survive a restart: half of the space, and the wanted ones with one more.
int FilteredLanczos::kept_panels(const SymmetricEigen& found) const {
  const int panels = found.vectors.rows() / width();
  return std::min(panels, std::max(wanted_panels() + 1, (panels + 1) / 2));
}

/// λ of one of the greatest values that are found, `number` from 0.
double FilteredLanczos::value_at(const SymmetricEigen& found, int number) const {
  const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(number)];
  if (filter_count_ > 0) return value_of_filter(value);
  return is_smallest() ? -value : value;
}

/// Takes a filter that fits what is found, if it is much better than that in use or reaches
/// farther, and begins a search space with the sum of the vectors that are kept. `first`, `last`: λ
/// of the first and the last of these.
void FilteredLanczos::collective_follow(const Ritz& ritz, double first, double last, int kept) {
  constexpr int most_filters = 4;
  const bool is_wider = filter_count_ > 0 && collective_widen(ritz);
  const bool is_better = std::abs(last - first) < 0.4 * std::abs(damped_from_ - first);
  if (filter_count_ > 0 && !is_wider && (!is_better || filter_count_ >= most_filters)) return;
  ++filter_count_;
  damped_from_ = last;
  choose_filter(first, last);
  SmallMatrix combination(kept * width(), width());
  for (int i = 0; i < combination.rows(); ++i) combination(i, i % width()) = 1;
  collective_start_from(kept, combination);
}

EigenReport FilteredLanczos::collective_solve() {
  const perfmodel::Stopwatch watch;
  EigenReport report{.status = SolveStatus::not_converged,
                     .explanation = "",
                     .pairs = {},
                     .width = width(),
                     .subspace = most_panels_ * width()};
  collective_start_randomly();
  collective_look_at_spectrum();
  SymmetricEigen found = best_of_spectrum();
  Ritz ritz;
  for (;; ++report.restarts) {
    const int kept = kept_panels(found);
    const double first = value_at(found, 0);
    const double last = value_at(found, kept * width() - 1);
    restart(found, kept);
    ritz = collective_ritz(wanted_panels());
    if (is_done(ritz)) report.status = SolveStatus::converged;
    if (is_done(ritz) || is_complete_space_ || report.restarts >= options_.max_restarts) break;
    collective_follow(ritz, first, last, kept);
    collective_expand(most_panels_);
    found = projected(std::min(processed_, most_panels_));
  }
  basis_.rotate(wanted_panels(), ritz.vectors);
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.count); ++i)
    report.pairs.push_back({.value = ritz.values[i], .residual = ritz.residuals[i]});
  report.norm = norm_;
  report.products = filter_.product_count();
  report.degree = polynomial_.degree;
  report.seconds = watch.seconds();
  return report;
}

std::vector<double> FilteredLanczos::collective_vector(int number) const {
  const double* const panel = basis_.panel(number / width());
  std::vector<double> vector(op_.element_count());
  double largest = 0;
  for (std::size_t row = 0; row < vector.size(); ++row) {
    vector[row] =
        panel[row * static_cast<std::size_t>(width()) + static_cast<std::size_t>(number % width())];
    if (std::abs(vector[row]) > std::abs(largest)) largest = vector[row];
  }
  const double of_all = op_.communicator().max(std::abs(largest));
  const int rank = op_.communicator().rank();
  const int first = -static_cast<int>(op_.communicator().max(
      std::abs(largest) == of_all ? -static_cast<double>(rank)
                                  : -static_cast<double>(op_.communicator().size())));
  const double sign = op_.communicator().sum(rank == first && largest < 0 ? 1.0 : 0.0);
  if (sign > 0)
    for (double& entry : vector) entry = -entry;
  return vector;
}

}  // namespace weft::solver
