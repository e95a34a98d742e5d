#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// `count` eigenvalues from both ends of the spectrum of a symmetric matrix: half of them the
/// smallest, and the others, one more where the number is odd, the largest. Two searches of
/// FilteredLanczos, one after the other, each with its certificate; the vectors of the first are
/// kept. A checkpoint has the state of the search that goes on: that of the first is one of
/// FilteredLanczos, and beside that of the second it has what the first has found.
class BothEnds {
 public:
  /// `options.count`: 2 or more. Collective. Thread: the main thread, outside the team, as below.
  /// Lifetime: `op` outlives it. Throws comm_thread::InputError if `count` is more than the matrix
  /// can have.
  BothEnds(spmv::SparseOperator& op, const EigenOptions& options, SearchHooks hooks = {});

  /// Vectors in memory of a search, for a matrix of so many rows.
  static double vector_count(std::int64_t rows, const EigenOptions& options);
  /// Vectors of a checkpoint of it, at most.
  static double kept_vector_count(std::int64_t rows, const EigenOptions& options);

  /// In ascending order, with certificates. Where it is stopped, the report has the pairs that have
  /// converged. Collective. Throws comm_thread::MpiError, and comm_thread::InputError where a
  /// checkpoint to continue from is of another search.
  EigenReport collective_solve();
  /// Of both certificates.
  double certificate_seconds() const { return certificate_seconds_; }

  /// The vector of a pair of the report. Shape: [row_count].
  const std::vector<double>& vector(int number) const {
    return vectors_[static_cast<std::size_t>(number)];
  }

 private:
  EigenReport collective_search(SpectrumEnd end, KeptBeside* beside,
                                std::vector<std::vector<double>>& vectors) const;
  void collective_certify_end(SpectrumEnd end, EigenReport& report);
  EigenReport report_of_first() const;
  KeptBeside kept(EigenReport report, const std::vector<std::vector<double>>& vectors) const;

  spmv::SparseOperator& op_;
  EigenOptions options_;
  SearchHooks hooks_;
  std::vector<std::vector<double>> vectors_;
  double certificate_seconds_ = 0;
};

}  // namespace weft::solver
