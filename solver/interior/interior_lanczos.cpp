#include "solver/interior/interior_lanczos.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "perfmodel/stopwatch.h"
#include "solver/interior/spectral_estimate.h"
#include "solver/panels/panel_column.h"
#include "solver/panels/powers_of_two.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;

}  // namespace

InteriorLanczos::InteriorLanczos(spmv::SparseOperator& op, const EigenOptions& options,
                                 SearchHooks hooks)
    : op_(op),
      options_(options),
      width_(options.width),
      hooks_(hooks),
      keeper_(std::move(hooks), op) {
  if (is_near()) FilteredLanczos::check_count(op.global_row_count(), options.count);
}

/// Panels of a search space for so many wanted vectors.
int InteriorLanczos::fitting_panels(std::int64_t rows, int wanted, const EigenOptions& options) {
  const int width = options.width;
  const int each = options.interval ? 3 : 5;
  const int chosen = options.subspace > 0 ? options.subspace : std::max(40, each * wanted);
  const int least = 2 * wanted + 4 * width;  // those that survive a restart are half of it
  const auto most = static_cast<int>(std::min<std::int64_t>(rows / 2, 1 << 20));
  return std::max(4, (std::min(std::max(chosen, least), most) + width - 1) / width);
}

double InteriorLanczos::vector_count(std::int64_t rows, const EigenOptions& options) {
  if (rows <= whole_rows) return 2 * static_cast<double>(rows + options.width);
  constexpr int of_filter = 2;
  return options.width * (fitting_panels(rows, options.count, options) + 1 + of_filter);
}

/// Products of one vector.
std::int64_t InteriorLanczos::product_count() const {
  return earlier_products_ + (space_ ? space_->product_count() : 0);
}

/// Makes room for what the estimate expects.
void InteriorLanczos::make_space(double expected) {
  const std::int64_t rows = op_.global_row_count();
  const double most = static_cast<double>(rows) / 8;
  if (expected > most && !is_near())
    throw InputError(
        fmt::format("{}: found about {:.0f} eigenvalues in it; expected at most {:.0f} "
                    "for a matrix of {} rows",
                    option_name("interval"), expected, most, rows));
  earlier_products_ = product_count();
  space_.reset();
  space_.emplace(op_, width_, fitting_panels(rows, static_cast<int>(expected), options_),
                 more_panels, options_.mode);
  collective_prepare_keeper();
  space_->collective_begin();
}

/// A filter that peaks at the number that is asked for, or in the middle between `begin` and
/// `end`, and is as steep as fits the distance between these.
FilterSeries InteriorLanczos::series_for(const EnergyRange& range) const {
  // Degree times half of the range in angles: p at its ends is 0.9, or 0.7.
  const double steepness = is_near() ? 0.7 : 1.4;
  constexpr double least_degree = 8;
  constexpr double most_degree = 1e6;
  const double center = spectrum_.center();
  const double half = spectrum_.half();
  const auto angle = [&](double lambda) {
    return std::acos(std::clamp((lambda - center) / half, -1.0, 1.0));
  };
  const double from = angle(range.end);
  const double to = angle(range.begin);
  const double part = std::max(to - from, 1e-6) / 2;
  const double place = is_near() ? std::clamp(options_.sigma, spectrum_.least, spectrum_.greatest)
                                 : center + half * std::cos(from + part);
  const double degree = options_.degree > 0
                            ? options_.degree
                            : std::clamp(steepness / part, least_degree, most_degree);
  return FilterSeries::peak(center, half, place, 2 * static_cast<int>(std::ceil(degree / 2)));
}

void InteriorLanczos::take_filter(const EnergyRange& range) {
  filter_range_ = range;
  series_ = series_for(range);
  ++filters_;
}

/// Finds the pairs of A in the span of what is above the bar, once more where that is lower than
/// thought. True if all are within the tolerance and nothing else can be above it, but for more
/// copies near a number than fit into the space.
bool InteriorLanczos::collective_find_pairs(const SymmetricEigen& found, int kept) {
  int wanted = is_near() ? options_.count : count_above(found, bar_of(*options_.interval));
  for (;;) {
    wanted_ = wanted;
    const int used = std::min(wanted, kept * width_);
    pairs_ = used > 0 ? space_->collective_ritz(used, unit_) : RitzPairs();
    if (!are_converged()) return false;
    if (used < wanted) return is_near() && used >= options_.count && are_equally_near();
    wanted = count_above(found, bar_of(wanted_range()));
    if (wanted <= wanted_) return true;
  }
}

/// True if another filter fits the pairs that are found much better than that in use, which it then
/// replaces.
bool InteriorLanczos::collective_follow() {
  constexpr int most_filters = 4;
  constexpr double much = 1.6;
  if (!is_near() || filters_ >= most_filters || options_.degree > 0 || blocks_ > 1) return false;
  const EnergyRange range = wanted_range();
  const double sharp =
      0.1 * (std::min(range.end, spectrum_.greatest) - std::max(range.begin, spectrum_.least));
  for (const double residual : pairs_.residuals)
    if (residual > sharp) return false;
  const double ratio = static_cast<double>(series_for(range).degree()) / series_.degree();
  if (ratio <= much && ratio >= 1 / much) return false;
  take_filter(range);
  space_->collective_begin_with_sums();
  return true;
}

/// Fills the space as far as it takes, with a filter for the widest spectrum where the matrix has
/// values outside of what was found, unless it is stopped.
void InteriorLanczos::collective_fill_space() {
  const auto ends = [this] { return collective_ends_step() || seems_found(); };
  while (space_->collective_fill(series_, ends) == FilteredSpace::Fill::too_large) {
    spectrum_ = collective_widest_interval(op_);
    take_filter(first_range_);
    space_->collective_begin();
  }
}

/// Goes from search space to search space until all is found, or it is stopped. `continues`: with a
/// state of a checkpoint, which was kept before that step's look. Returns whether all is found.
bool InteriorLanczos::collective_search(bool continues) {
  for (;; ++restarts_) {
    if (!std::exchange(continues, false) || !seems_found()) collective_fill_space();
    const SymmetricEigen found = space_->projected();
    const bool is_full = space_->processed() == space_->panels();
    const int kept = is_full || is_stopped_
                         ? std::max(1, space_->processed() / 2)
                         : std::min(space_->processed(), std::max(1, space_->panels() / 2));
    space_->restart(found, kept);
    const bool is_found = collective_find_pairs(found, kept);
    chosen_ = choose(pairs_.values);
    if (is_found && !lacks_copies() && (is_full || !is_stopped_)) return true;
    if (is_stopped_) return false;
    if (restarts_ >= options_.max_restarts || space_->is_whole()) return is_found;
    if (is_found) {
      ++blocks_;
      space_->collective_begin_beside(std::max(1, (wanted_ + width_ - 1) / width_));
    } else if (!is_near() && count_in_interval(found) > kept * width_) {
      make_space(2.0 * count_in_interval(found));
    } else if (std::ssize(pairs_.values) >= options_.count) {
      collective_follow();
    }
  }
}

void InteriorLanczos::note_range(const EigenReport& report) {
  double distance = 0;
  for (const EigenPair& pair : report.pairs)
    distance = std::max(distance, std::abs(pair.value - options_.sigma));
  range_ = is_near() ? EnergyRange{options_.sigma - distance, options_.sigma + distance}
                     : *options_.interval;
}

/// All pairs of a small matrix, of which some are taken.
EigenReport InteriorLanczos::collective_search_whole() {
  const perfmodel::Stopwatch watch;
  const auto rows = static_cast<int>(op_.global_row_count());
  const int panels = (rows + width_ - 1) / width_;
  norm_ = op_.collective_norm();
  if (norm_ > 0) unit_ = power_above(norm_);
  space_.emplace(op_, width_, panels, panels, options_.mode);
  space_->take_all_vectors();
  pairs_ = space_->collective_ritz(rows, unit_);
  space_->take(pairs_);
  chosen_ = choose(pairs_.values);
  EigenReport report = report_of(are_converged());
  report.orthogonality = space_->collective_orthogonality(rows);
  report.subspace = panels * width_;
  report.is_whole = true;
  report.products += space_->product_count();
  report.seconds = watch.seconds();
  return report;
}

/// The pairs nearest to a number outside of the spectrum.
EigenReport InteriorLanczos::collective_search_from_end() {
  EigenOptions options = options_;
  options.part = SpectrumPart::end;
  options.end = options_.sigma < spectrum_.least ? SpectrumEnd::smallest : SpectrumEnd::largest;
  from_end_.emplace(op_, options, hooks_);
  EigenReport report = from_end_->collective_solve();
  chosen_.resize(report.pairs.size());
  std::iota(chosen_.begin(), chosen_.end(), 0);
  if (options.end == SpectrumEnd::largest) {
    std::reverse(chosen_.begin(), chosen_.end());
    std::reverse(report.pairs.begin(), report.pairs.end());
  }
  report.products += earlier_products_;
  note_range(report);
  return report;
}

/// Where a filter should be large: where the estimate expects as many eigenvalues as are asked for,
/// or the interval, but no range with less than a few eigenvalues.
EnergyRange InteriorLanczos::range_for(const SpectralEstimate& estimate) const {
  constexpr int few = 8;
  double middle = options_.sigma;
  double count = options_.count;
  if (!is_near()) {
    if (estimate.count(*options_.interval) >= few) return *options_.interval;
    middle = options_.interval->begin + (options_.interval->end - options_.interval->begin) / 2;
    count = few;
  }
  const double distance = estimate.distance(middle, count);
  return {.begin = middle - distance, .end = middle + distance};
}

/// True if all of the interval is outside of the spectrum.
bool InteriorLanczos::is_outside() const {
  return !is_near() && (options_.interval->begin > spectrum_.greatest ||
                        options_.interval->end < spectrum_.least);
}

EigenReport InteriorLanczos::collective_solve() {
  if (op_.global_row_count() <= whole_rows) return collective_search_whole();
  const perfmodel::Stopwatch watch;
  const bool continues = collective_take_state();
  if (!continues) {
    const SpectralEstimate estimate(op_, options_.mode);
    spectrum_ = estimate.spectrum();
    norm_ = std::max(std::abs(spectrum_.least), std::abs(spectrum_.greatest));
    unit_ = power_above(norm_);
    earlier_products_ = estimate.product_count();
    if (is_outside()) return report_of(true);
    if (is_near() && (options_.sigma < spectrum_.least || options_.sigma > spectrum_.greatest))
      return collective_search_from_end();
    first_range_ = range_for(estimate);
    take_filter(first_range_);
    make_space(is_near() ? options_.count : estimate.count(first_range_));
  }
  const bool is_found = collective_search(continues);
  if (!pairs_.values.empty()) space_->take(pairs_);
  EigenReport report = report_of(is_found);
  const auto found = static_cast<int>(pairs_.values.size());
  report.orthogonality = space_->collective_orthogonality(found);
  report.subspace = space_->panels() * width_;
  space_->keep_only(found);  // certificates need memory, too
  if (is_stopped_ && !is_found) report.status = SolveStatus::stopped;
  report.products = product_count();
  report.seconds = watch.seconds();
  return report;
}

/// What is known without the search space.
EigenReport InteriorLanczos::report_of(bool is_found) {
  EigenReport report{.method = name(EigenMethod::filter),
                     .status = is_found ? SolveStatus::converged : SolveStatus::not_converged,
                     .explanation = "",
                     .pairs = {},
                     .norm = norm_,
                     .products = earlier_products_,
                     .restarts = restarts_,
                     .degree = series_.degree(),
                     .width = width_,
                     .blocks = blocks_};
  if (is_stopped_)
    std::erase_if(chosen_, [this](int number) {
      return pairs_.residuals[static_cast<std::size_t>(number)] > options_.tolerance * norm_;
    });
  for (const int number : chosen_) {
    const double residual = pairs_.residuals[static_cast<std::size_t>(number)];
    report.pairs.push_back({pairs_.values[static_cast<std::size_t>(number)], residual, residual});
  }
  note_range(report);
  return report;
}

std::vector<double> InteriorLanczos::collective_vector(int number) const {
  const int chosen = chosen_[static_cast<std::size_t>(number)];
  if (from_end_) return from_end_->collective_vector(chosen);
  return collective_signed_column(op_, space_->panel(chosen / width_), width_, chosen % width_);
}

}  // namespace weft::solver
