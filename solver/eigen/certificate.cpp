#include "solver/eigen/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/eigen/shifted_count.h"

namespace weft::solver {
namespace {

/// Operations of a factorization that are few beside any search.
constexpr double few_flops = 1e8;
/// Limit of `--certificate inertia`: some minutes.
constexpr double most_flops = 1e12;
/// A factorization, which does one operation after the other, takes as long as so many of a search.
constexpr double weight_of_flops = 4;

/// A power of two near what is above zero.
double unit_of(double norm) { return norm > 0 ? std::ldexp(1.0, std::ilogb(norm)) : 1.0; }

/// What is known of B.
struct MassBounds {
  double norm;
  double least;  // of its eigenvalues none is smaller
};

/// Values as distances from the wanted end: ascending, whichever end it is.
class Found {
 public:
  /// `of_mass`: the norm of B and a bound for its least eigenvalue, where there is one.
  Found(const EigenReport& report, SpectrumEnd end, const std::optional<MassBounds>& of_mass)
      : norm(report.norm), sign_(end == SpectrumEnd::smallest ? 1 : -1) {
    double largest = 0;
    for (const EigenPair& pair : report.pairs) {
      double residual = pair.residual;
      if (of_mass) residual = pair.error_bound * std::sqrt(report.least_of_mass / of_mass->least);
      values.push_back(sign_ * pair.value);
      residuals.push_back(residual);
      largest = std::max(largest, std::abs(pair.value));
    }
    if (of_mass) norm = (report.norm + largest * of_mass->norm) / of_mass->least;
    if (!report.next.empty()) next = sign_ * report.next.front().value;
    // Vectors that are orthonormal to δ only stand for some that are, with residuals of so much
    // more.
    const double few_units = 16 * std::numeric_limits<double>::epsilon();
    rounding = norm * (few_units + static_cast<double>(count()) * report.orthogonality);
    spread = norm_of_residuals(0, count()) + rounding;
  }

  std::size_t count() const { return values.size(); }
  /// The Frobenius norm of the residuals from one number to before another.
  double norm_of_residuals(std::size_t begin, std::size_t end) const {
    const double unit = unit_of(norm);  // so that no square underflows or overflows
    double square = 0;
    for (std::size_t i = begin; i < end; ++i)
      square += (residuals[i] / unit) * (residuals[i] / unit);
    return unit * std::sqrt(square);
  }
  /// A number that a caller knows, and back.
  double outside(double value) const { return sign_ * value; }

  std::vector<double> values{};
  std::vector<double> residuals{};
  std::optional<double> next{};
  double norm;  // no eigenvalue is larger
  double rounding = 0;
  double spread = 0;  // the same number of eigenvalues as values lie within this distance of them

 private:
  double sign_;
};

/// Eigenvalues before a number are shown to be so many at most.
struct Shown {
  double place = 0;  // that number less the rounding of the count
  std::int64_t before = 0;
};

/// Counts what lies before `place`. None where the rounding exceeds `most_error`.
std::optional<Shown> collective_count_before(const ShiftedCount& counter, const Found& found,
                                             SpectrumEnd end, double place, double most_error) {
  const auto counted = counter.collective_count(found.outside(place));
  if (!counted || counted->error > most_error) return std::nullopt;
  const std::int64_t before = end == SpectrumEnd::smallest ? counted->below : counted->above;
  return Shown{place - counted->error, before};
}

/// Counts what lies up to the last value, at places ever nearer to it, between it and the next.
std::optional<Shown> collective_count_up_to_last(const ShiftedCount& counter, const Found& found,
                                                 SpectrumEnd end) {
  const double last = found.values.back();
  const double room = (found.next ? *found.next - last : found.norm) - 4 * found.spread;
  if (!(room > 0)) return std::nullopt;
  std::optional<Shown> best;
  for (const double part : {0.5, 0.25, 0.0625}) {
    const double place = last + 2 * found.spread + part * room;
    const auto shown = collective_count_before(counter, found, end, place, part / 2 * room);
    if (shown && (!best || shown->before < best->before)) best = shown;
    if (best && best->before <= static_cast<std::int64_t>(found.count())) break;
  }
  return best;
}

/// How many values stand before the last ones that cannot be told apart.
std::size_t count_before_last_cluster(const Found& found) {
  std::size_t first = found.count() - 1;
  while (first > 0 && found.values[first] - found.values[first - 1] <= 16 * found.spread) --first;
  return first;
}

/// Counts what lies before the value of that number, at places ever farther from it.
std::optional<Shown> collective_count_before_value(const ShiftedCount& counter, const Found& found,
                                                   SpectrumEnd end, std::size_t number) {
  const double value = found.values[number];
  const double gap = number > 0 ? value - found.values[number - 1] : found.norm;
  double distance = std::max(4 * found.spread, 1e-12 * found.norm);
  for (int tries = 0; tries < 6; ++tries, distance *= 16) {
    const double used = std::min(distance, gap / 2);
    const auto shown = collective_count_before(counter, found, end, value - used, used / 4);
    if (shown) return shown;
  }
  return std::nullopt;
}

/// Bounds of the values of a complete list. `before`, `beyond`: all other values lie before the
/// one, or beyond the other; `shown_from`: where the last cluster of copies begins at the earliest,
/// for those from number `last_cluster`.
void set_bounds(const Found& found, std::optional<double> before, std::optional<double> beyond,
                std::size_t last_cluster, std::optional<double> shown_from, EigenReport& report) {
  for (std::size_t begin = 0, end = 0; begin < found.count(); begin = end) {
    end = begin + 1;
    while (end < found.count() && found.values[end] - found.values[end - 1] <= 4 * found.spread)
      ++end;
    const double residual = found.norm_of_residuals(begin, end);
    double gap = HUGE_VAL;
    if (begin == 0 && before) gap = found.values[0] - *before - found.spread;
    if (begin > 0) gap = found.values[begin] - found.values[begin - 1] - 2 * found.spread;
    if (end < found.count())
      gap = std::min(gap, found.values[end] - found.values[end - 1] - 2 * found.spread);
    else
      gap = beyond ? std::min(gap, *beyond - found.values[end - 1] - found.spread) : 0.0;
    double bound = residual;
    if (gap > residual) bound = residual * (residual / gap);
    for (std::size_t i = begin; i < end; ++i) {
      double own = bound + found.rounding;
      if (shown_from && i >= last_cluster)
        own = std::max(found.spread, found.values[i] - *shown_from);
      report.pairs[i].error_bound = own;
    }
  }
}

void show_complete(std::string why, EigenReport& report) {
  report.completeness.is_shown = true;
  report.completeness.statement = "complete";
  report.completeness.why = std::move(why);
}

const char* side(SpectrumEnd end) { return end == SpectrumEnd::smallest ? "below" : "above"; }

std::string counted_text(const Shown& shown, const Found& found, SpectrumEnd end) {
  return fmt::format("a factorization counts {} {} {:.12g}", shown.before, side(end),
                     found.outside(shown.place));
}

/// Counts, and says what that shows.
void collective_use_counts(const ShiftedCount& counter, const Found& found, SpectrumEnd end,
                           EigenReport& report) {
  const auto count = static_cast<std::int64_t>(found.count());
  Completeness& said = report.completeness;
  const auto all = collective_count_up_to_last(counter, found, end);
  if (all && all->before == count) {
    set_bounds(found, std::nullopt, all->place, found.count(), std::nullopt, report);
    return show_complete(counted_text(*all, found, end), report);
  }
  const std::size_t first = count_before_last_cluster(found);
  const auto before = collective_count_before_value(counter, found, end, first);
  if (!before) {
    said.why = "no factorization is accurate enough to count";
    return;
  }
  said.missing = std::max<std::int64_t>(0, before->before - static_cast<std::int64_t>(first));
  said.why = fmt::format("{}, of which {} are found", counted_text(*before, found, end), first);
  if (said.missing > 0) {
    report.status = SolveStatus::not_converged;
    report.explanation = said.why;
  }
  if (before->before != static_cast<std::int64_t>(first)) return;
  set_bounds(found, std::nullopt, std::nullopt, first, before->place, report);
  show_complete(fmt::format("{}, and of copies of the last value there may be more",
                            counted_text(*before, found, end)),
                report);
}

/// Limit of the operations of a factorization; by `automatic` that of the products of the search.
double limit_of(Certificate certificate, double products, double nonzeros) {
  if (certificate == Certificate::none) return 0;
  if (certificate == Certificate::inertia) return most_flops;
  return std::max(few_flops, 2 * products * nonzeros / weight_of_flops);
}

/// Limit of the memory before it is known whether a factorization fits; by `automatic` that of the
/// vectors of the search, or little.
double sorting_limit_of(const spmv::SparseOperator& op, Certificate certificate,
                        const EigenReport& report) {
  constexpr double few_bytes = 64e6;
  if (certificate == Certificate::inertia) return HUGE_VAL;
  return std::max(few_bytes, static_cast<double>(sizeof(double)) * report.subspace *
                                 static_cast<double>(op.global_row_count()));
}

/// Shows that no eigenvalue of B lies below three quarters of what the least seems to be, or says
/// why not.
std::optional<MassBounds> collective_bound_mass(const spmv::SparseOperator& mass, double limit,
                                                double sorting_limit, EigenReport& report) {
  const double norm = mass.collective_norm();
  const ShiftedCount counter({.a = mass, .unit_of_a = unit_of(norm)}, limit, sorting_limit);
  report.completeness.bytes = counter.bytes();
  report.completeness.why = counter.obstacle();
  if (!counter.obstacle().empty()) return std::nullopt;
  const double place = 0.75 * report.least_of_mass;
  const auto counted = counter.collective_count(place);
  report.completeness.why = "no factorization shows how small the eigenvalues of B are";
  if (!counted || counted->below > 0 || counted->error > place / 4) return std::nullopt;
  return MassBounds{.norm = norm, .least = place - counted->error};
}

/// Eigenvalues between two numbers, by counts at both.
struct Between {
  std::int64_t count = 0;
  double error = 0;  // of both places
};

std::optional<Between> collective_count_between(const ShiftedCount& counter,
                                                const EnergyRange& range) {
  const auto begin = counter.collective_count(range.begin);
  if (!begin) return std::nullopt;
  const auto end = counter.collective_count(range.end);
  if (!end) return std::nullopt;
  return Between{end->below - begin->below, std::max(begin->error, end->error)};
}

/// How many found values lie in a range.
std::int64_t found_in(const Found& found, const EnergyRange& range) {
  return std::count_if(found.values.begin(), found.values.end(),
                       [&](double value) { return value >= range.begin && value <= range.end; });
}

/// Counts just outside of the range, ever nearer to its ends; where there is more than was found,
/// just inside, too, and says what that shows.
void collective_use_counts_between(const ShiftedCount& counter, const EnergyRange& range,
                                   EigenReport& report) {
  const Found found(report, SpectrumEnd::smallest, std::nullopt);
  const auto count = static_cast<std::int64_t>(found.count());
  const double spacing =
      (range.end - range.begin) / static_cast<double>(std::max<std::int64_t>(1, count));
  Completeness& said = report.completeness;
  said.why = "no factorization is accurate enough to count";
  for (const double part : {0.1, 1e-2, 1e-3, 1e-5}) {
    const double margin = part * spacing + 2 * found.spread;
    const EnergyRange outside{range.begin - margin, range.end + margin};
    const auto most = collective_count_between(counter, outside);
    if (!most || most->error > margin / 4) continue;
    said.why =
        fmt::format("a factorization counts {} from {:.12g} to {:.12g}, of which {} are found",
                    most->count, outside.begin, outside.end, count);
    if (most->count != count) continue;
    set_bounds(found, outside.begin + most->error, outside.end - most->error, found.count(),
               std::nullopt, report);
    return show_complete(fmt::format("a factorization counts {} from {:.12g} to {:.12g}", count,
                                     outside.begin, outside.end),
                         report);
  }
  const double margin = 1e-3 * spacing + 2 * found.spread;
  const EnergyRange inside{range.begin + margin, range.end - margin};
  const auto least = collective_count_between(counter, inside);
  if (!least || least->error > margin / 4) return;
  said.missing = std::max<std::int64_t>(0, least->count - found_in(found, range));
  if (said.missing == 0) return;
  report.status = SolveStatus::not_converged;
  report.explanation = said.why;
}

}  // namespace

double certificate_bytes(Certificate certificate, double rows, double nonzeros, bool has_mass,
                         double products) {
  const double limit = limit_of(certificate, products, nonzeros);
  return limit > 0 ? ShiftedCount::most_bytes(rows, nonzeros, has_mass, limit) : 0;
}

void collective_certify_between(const spmv::SparseOperator& op, const EnergyRange& range,
                                double search_bytes, Certificate certificate, EigenReport& report) {
  const Found found(report, SpectrumEnd::smallest, std::nullopt);
  for (std::size_t i = 0; i < report.pairs.size(); ++i)
    report.pairs[i].error_bound = found.residuals[i] + found.rounding;
  if (report.status != SolveStatus::converged) {
    report.completeness.why = "not all values are found";
  } else if (report.norm == 0) {
    show_complete("all are zero", report);
  } else if (certificate != Certificate::none) {
    constexpr double few_entries = 1e6;
    constexpr double bytes_of_entry = 12;
    const double flops = limit_of(certificate, static_cast<double>(report.products),
                                  static_cast<double>(op.matrix().matrix().global_nonzero_count));
    const bool is_asked = certificate == Certificate::inertia;
    const double entries =
        is_asked ? HUGE_VAL : std::max(few_entries, search_bytes / bytes_of_entry);
    const ShiftedCount counter({.a = op, .unit_of_a = unit_of(report.norm)}, flops,
                               sorting_limit_of(op, certificate, report), entries);
    report.completeness.bytes = counter.bytes();
    if (counter.obstacle().empty())
      collective_use_counts_between(counter, range, report);
    else
      report.completeness.why = counter.obstacle();
  }
}

void collective_certify(const spmv::SparseOperator& op, const spmv::SparseOperator* mass,
                        SpectrumEnd end, Certificate certificate, EigenReport& report) {
  const double limit = limit_of(certificate, static_cast<double>(report.products),
                                static_cast<double>(op.matrix().matrix().global_nonzero_count));
  const double sorting_limit = sorting_limit_of(op, certificate, report);
  std::optional<MassBounds> of_mass;
  if (mass) of_mass = {.norm = mass->collective_norm(), .least = report.least_of_mass};
  const bool may_count = report.status == SolveStatus::converged && report.norm > 0 &&
                         certificate != Certificate::none;
  std::optional<MassBounds> shown;
  if (mass && may_count) shown = collective_bound_mass(*mass, limit, sorting_limit, report);
  const Found found(report, end, shown ? shown : of_mass);
  for (std::size_t i = 0; i < report.pairs.size(); ++i)
    report.pairs[i].error_bound = found.residuals[i] + found.rounding;
  if (report.status != SolveStatus::converged) {
    report.completeness.why = "not all values are found";
  } else if (!mass && std::ssize(report.pairs) == op.global_row_count()) {
    set_bounds(found, std::nullopt, HUGE_VAL, found.count(), std::nullopt, report);
    show_complete("there are no more than the rows", report);
  } else if (report.norm == 0) {
    show_complete("all are zero", report);
  } else if (may_count && (!mass || shown)) {
    CountedPencil pencil{.a = op, .unit_of_a = unit_of(report.norm), .b = mass};
    if (shown) pencil.unit_of_b = unit_of(shown->norm);
    if (shown) pencil.least_of_b = shown->least;
    const ShiftedCount counter(pencil, limit, sorting_limit);
    report.completeness.bytes = std::max(report.completeness.bytes, counter.bytes());
    if (counter.obstacle().empty())
      collective_use_counts(counter, found, end, report);
    else
      report.completeness.why = counter.obstacle();
  }
}

}  // namespace weft::solver
