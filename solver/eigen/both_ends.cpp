#include "solver/eigen/both_ends.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "perfmodel/stopwatch.h"
#include "solver/eigen/certificate.h"
#include "solver/eigen/filtered_lanczos.h"

namespace weft::solver {
namespace {

EigenOptions of_end(const EigenOptions& options, SpectrumEnd end) {
  EigenOptions half = options;
  half.part = SpectrumPart::end;
  half.end = end;
  half.count = (options.count + (end == SpectrumEnd::largest ? 1 : 0)) / 2;
  return half;
}

/// The name of a state of the second search.
constexpr const char* second_name = "lanczos for eigenvalues of the other end";

/// Calls carry(number) for each number of the first report that the second search keeps.
template <class Carry>
void for_each_number(EigenReport& report, const Carry& carry) {
  carry(report.norm);
  carry(report.orthogonality);
  carry(report.products);
  carry(report.restarts);
  carry(report.degree);
  carry(report.width);
  carry(report.blocks);
  carry(report.subspace);
  for (std::vector<EigenPair>* const pairs : {&report.pairs, &report.next})
    for (EigenPair& pair : *pairs) {
      carry(pair.value);
      carry(pair.residual);
    }
}

/// What both searches say together.
Completeness joined(const Completeness& smallest, const Completeness& largest) {
  Completeness both;
  both.is_shown = smallest.is_shown && largest.is_shown;
  both.missing = smallest.missing + largest.missing;
  if (both.is_shown) both.statement = smallest.statement;
  both.why = fmt::format("of the smallest: {}; of the largest: {}", smallest.why, largest.why);
  both.bytes = std::max(smallest.bytes, largest.bytes);
  return both;
}

/// Adds what the second search says to the report of the first.
void join(const EigenReport& other, EigenReport& report) {
  if (other.status != SolveStatus::converged) {
    report.status = other.status;
    report.explanation = other.explanation;
  }
  report.pairs.insert(report.pairs.end(), other.pairs.begin(), other.pairs.end());
  report.next.clear();
  report.completeness = joined(report.completeness, other.completeness);
  report.orthogonality = std::max(report.orthogonality, other.orthogonality);
  report.norm = std::max(report.norm, other.norm);
  report.products += other.products;
  report.restarts += other.restarts;
  report.degree = std::max(report.degree, other.degree);
  report.blocks = std::max(report.blocks, other.blocks);
  report.subspace = std::max(report.subspace, other.subspace);
  report.seconds += other.seconds;
}

}  // namespace

BothEnds::BothEnds(spmv::SparseOperator& op, const EigenOptions& options, SearchHooks hooks)
    : op_(op), options_(options), hooks_(std::move(hooks)) {
  FilteredLanczos::check_count(op.global_row_count(), options.count);
}

double BothEnds::vector_count(std::int64_t rows, const EigenOptions& options) {
  const EigenOptions largest = of_end(options, SpectrumEnd::largest);
  return FilteredLanczos::vector_count(rows, largest) + options.count;
}

double BothEnds::kept_vector_count(std::int64_t rows, const EigenOptions& options) {
  const EigenOptions largest = of_end(options, SpectrumEnd::largest);
  constexpr double of_numbers = 1;
  return FilteredLanczos::kept_vector_count(rows, largest) +
         of_end(options, SpectrumEnd::smallest).count + of_numbers;
}

/// `vectors`: those of the pairs, in the order of the report: from the end inwards.
EigenReport BothEnds::collective_search(SpectrumEnd end, KeptBeside* beside,
                                        std::vector<std::vector<double>>& vectors) const {
  SearchHooks hooks = hooks_;
  hooks.beside = beside;
  FilteredLanczos lanczos(op_, of_end(options_, end), std::move(hooks));
  EigenReport report = lanczos.collective_solve();
  vectors.clear();
  for (int number = 0; number < static_cast<int>(report.pairs.size()); ++number)
    vectors.push_back(lanczos.collective_vector(number));
  return report;
}

void BothEnds::collective_certify_end(SpectrumEnd end, EigenReport& report) {
  const perfmodel::Stopwatch watch;
  collective_certify(op_, nullptr, end, options_.certificate, report);
  certificate_seconds_ += watch.seconds();
}

/// As large as that of a first search that has ended.
EigenReport BothEnds::report_of_first() const {
  EigenReport report;
  report.pairs.resize(static_cast<std::size_t>(of_end(options_, SpectrumEnd::smallest).count));
  report.next.resize(1);
  return report;
}

/// What the second search keeps of the first.
KeptBeside BothEnds::kept(EigenReport report,
                          const std::vector<std::vector<double>>& vectors) const {
  KeptBeside kept{.recurrence = second_name, .numbers = {}, .vectors = vectors};
  kept.numbers.push_back(report.status == SolveStatus::converged ? 1 : 0);
  kept.numbers.push_back(report.next.empty() ? 0 : 1);
  report.next.resize(1);
  for_each_number(report,
                  [&](auto number) { kept.numbers.push_back(static_cast<double>(number)); });
  return kept;
}

/// Both searches, or the rest of them. Where the first is stopped, what it has found.
EigenReport BothEnds::collective_solve() {
  certificate_seconds_ = 0;
  const bool has_first = hooks_.has_state_of(second_name);
  EigenReport report = report_of_first();
  vectors_.assign(report.pairs.size(), std::vector<double>(op_.element_count()));
  if (!has_first) {
    report = collective_search(SpectrumEnd::smallest, nullptr, vectors_);
    if (report.status == SolveStatus::stopped) {
      collective_certify_end(SpectrumEnd::smallest, report);
      report.next.clear();
      return report;
    }
  }
  KeptBeside beside = kept(report, vectors_);
  std::vector<std::vector<double>> vectors;
  EigenReport other = collective_search(SpectrumEnd::largest, &beside, vectors);
  if (has_first) {
    std::size_t next = 2;
    for_each_number(report, [&](auto& number) {
      number = static_cast<std::remove_reference_t<decltype(number)>>(beside.numbers[next++]);
    });
    report.status = beside.numbers[0] != 0 ? SolveStatus::converged : SolveStatus::not_converged;
    if (beside.numbers[1] == 0) report.next.clear();
    vectors_ = std::move(beside.vectors);
  }
  collective_certify_end(SpectrumEnd::smallest, report);
  collective_certify_end(SpectrumEnd::largest, other);
  std::reverse(other.pairs.begin(), other.pairs.end());
  std::move(vectors.rbegin(), vectors.rend(), std::back_inserter(vectors_));
  join(other, report);
  return report;
}

}  // namespace weft::solver
