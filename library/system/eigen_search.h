#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "library/options/eigen_settings.h"
#include "library/system/linear_system.h"
#include "perfmodel/stopwatch.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/eigen/both_ends.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "solver/eigen/two_pass_lanczos.h"
#include "solver/interior/interior_lanczos.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

/// Matrices and vectors in memory that a search by lobpcg takes. Null, or none: those of the
/// settings. Lifetime: the systems outlive the search.
struct EigenInput {
  LinearSystem* mass = nullptr;
  LinearSystem* preconditioner = nullptr;
  solver::StartVectors start{};  // in the layout of the operator
};

/// A search for eigenvalues of the matrix of a system as settings ask for it, with its mass matrix
/// and preconditioner, and what certifies the result. Functions are collective. Thread: the main
/// thread, outside the team. Lifetime: `system` outlives it.
class EigenSearch {
 public:
  /// `settings`: checked. Throws comm_thread::InputError on every rank, where a matrix is not
  /// symmetric or not as large as the other, B not positive definite, or where there are not as
  /// many eigenvalues. `checkpoints`: keep the state of the search, or null; they outlive it.
  EigenSearch(LinearSystem& system, const EigenSettings& settings,
              solver::Checkpoints* checkpoints = nullptr, EigenInput input = {});
  EigenSearch(const EigenSearch&) = delete;
  EigenSearch& operator=(const EigenSearch&) = delete;

  /// With its certificate. Throws comm_thread::MpiError, and comm_thread::InputError where a
  /// checkpoint to continue from is of another search.
  solver::EigenReport collective_solve();
  /// Of the certificate.
  double certificate_seconds() const { return certificate_seconds_; }
  /// The preconditioner that it uses, as the option says it.
  const std::string& preconditioner() const { return settings_.preconditioner; }
  /// The vector of a pair of the report. Shape: [element_count].
  std::vector<double> collective_vector(int number) const;

 private:
  void collective_load_mass(const spmv::Problem& problem);
  void collective_take(const char* what, LinearSystem& given);
  std::unique_ptr<solver::Preconditioner> collective_make_own_preconditioner(
      const spmv::Problem& problem);
  void collective_begin();
  void collective_make_lobpcg(LinearSystem& system, const solver::SearchHooks& hooks);
  bool collective_is_over();
  void judge(solver::EigenReport& report) const;
  solver::EigenReport collective_search();
  void collective_certify(solver::EigenReport& report);

  EigenSettings settings_;
  spmv::SparseOperator* op_ = nullptr;
  EigenInput input_;
  std::unique_ptr<LinearSystem> loaded_mass_;
  spmv::SparseOperator* mass_ = nullptr;  // null: the identity
  std::unique_ptr<solver::Preconditioner> preconditioner_;
  std::optional<solver::FilteredLanczos> lanczos_;  // one of these
  std::optional<solver::TwoPassLanczos> two_pass_;
  std::optional<solver::BothEnds> both_ends_;
  std::optional<solver::InteriorLanczos> interior_;
  std::optional<solver::Lobpcg> lobpcg_;
  double certificate_seconds_ = 0;
  perfmodel::Stopwatch since_start_;
  bool is_over_ = false;
};

/// What --mass names: a file, a generated problem, or the one that belongs to the problem of A.
/// Throws comm_thread::InputError where that one has none.
spmv::Problem mass_problem(const spmv::Problem& problem, const std::string& word);
/// Bytes of the vectors of a search on each of `ranks` ranks, for a matrix of so many rows.
double search_bytes(const EigenSettings& settings, double rows, int ranks);
/// Bytes on a rank of vectors of the search that are no pairs, which it gives back before the
/// certificate.
double bytes_of_other_vectors(const EigenSettings& settings, double rows, int ranks);
/// Bytes of rank 0 for the certificate, at most: what it takes depends on the search.
double certificate_bytes(const EigenSettings& settings, double rows, double nonzeros);
/// Likewise of what its checkpoints copy.
double kept_bytes(const EigenSettings& settings, double rows, int ranks);

}  // namespace weft::library
