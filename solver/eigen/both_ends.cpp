#include "solver/eigen/both_ends.h"

#include <algorithm>
#include <iterator>
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

/// What both searches say together.
Completeness joined(const Completeness& smallest, const Completeness& largest) {
  Completeness both;
  both.is_shown = smallest.is_shown && largest.is_shown;
  both.missing = smallest.missing + largest.missing;
  if (both.is_shown) both.statement = smallest.statement;
  both.why = fmt::format("of the smallest: {}; of the largest: {}", smallest.why, largest.why);
  return both;
}

}  // namespace

BothEnds::BothEnds(spmv::SparseOperator& op, const EigenOptions& options)
    : op_(op), options_(options) {
  FilteredLanczos::check_count(op.global_row_count(), options.count);
}

double BothEnds::vector_count(std::int64_t rows, const EigenOptions& options) {
  const EigenOptions largest = of_end(options, SpectrumEnd::largest);
  return FilteredLanczos::vector_count(rows, largest) + options.count;
}

EigenReport BothEnds::collective_search(SpectrumEnd end) {
  const EigenOptions options = of_end(options_, end);
  FilteredLanczos lanczos(op_, options);
  EigenReport report = lanczos.collective_solve();
  const perfmodel::Stopwatch watch;
  collective_certify(op_, nullptr, end, options.certificate, report);
  certificate_seconds_ += watch.seconds();
  std::vector<std::vector<double>> found;
  for (int number = 0; number < options.count; ++number)
    found.push_back(lanczos.collective_vector(number));
  if (end == SpectrumEnd::largest) {
    std::reverse(report.pairs.begin(), report.pairs.end());
    std::reverse(found.begin(), found.end());
  }
  std::move(found.begin(), found.end(), std::back_inserter(vectors_));
  return report;
}

EigenReport BothEnds::collective_solve() {
  vectors_.clear();
  EigenReport report = collective_search(SpectrumEnd::smallest);
  const EigenReport other = collective_search(SpectrumEnd::largest);
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
  return report;
}

}  // namespace weft::solver
