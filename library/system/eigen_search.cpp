#include "library/system/eigen_search.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/settings/file_columns.h"
#include "library/settings/preconditioner_choice.h"
#include "library/system/expected_symmetry.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/certificate.h"
#include "solver/precondition/matrix_preconditioner.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;

bool have_equal_parts(const spmv::RowPartition& one, const spmv::RowPartition& other) {
  for (int rank = 0; rank < one.rank_count(); ++rank)
    if (one.end(rank) != other.end(rank)) return false;
  return true;
}

/// Bytes on a rank of the vectors of a search, or of those that a checkpoint keeps.
double bytes_of_vectors(const EigenSettings& settings, double rows, int ranks, bool are_kept) {
  const auto count = static_cast<std::int64_t>(rows);
  const solver::EigenOptions& search = settings.search;
  const auto count_of = [&]<class Search>(const auto&... more) {
    return are_kept ? Search::kept_vector_count(count, search, more...)
                    : Search::vector_count(count, search, more...);
  };
  const solver::EigenMethod method = settings.chosen_method();
  double vectors = 0;
  if (method == solver::EigenMethod::lobpcg)
    vectors = count_of.operator()<solver::Lobpcg>(!settings.mass.empty());
  else if (method == solver::EigenMethod::lanczos_two_pass)
    vectors = are_kept ? solver::TwoPassLanczos::kept_vector_count(count, search)
                       : solver::TwoPassLanczos::vector_count;
  else if (method == solver::EigenMethod::filter)
    vectors = count_of.operator()<solver::InteriorLanczos>();
  else if (search.part == solver::SpectrumPart::both)
    vectors = count_of.operator()<solver::BothEnds>();
  else
    vectors = count_of.operator()<solver::FilteredLanczos>();
  return rows / ranks * static_cast<double>(sizeof(double)) * vectors;
}

}  // namespace

spmv::Problem mass_problem(const spmv::Problem& problem, const std::string& word) {
  if (word != "consistent") return spmv::Problem::parse(word);
  if (problem.kind != spmv::ProblemKind::elasticity3d)
    throw InputError(option_name("mass", word) +
                     ": found another problem than elasticity3d; expected a file");
  spmv::Problem mass = problem;
  mass.elasticity.is_mass = true;
  return mass;
}

EigenSearch::EigenSearch(LinearSystem& system, const EigenSettings& settings,
                         solver::Checkpoints* checkpoints, EigenInput input)
    : settings_(settings), input_(std::move(input)) {
  settings_.mode = spmv::name(settings_.search.mode);
  collective_expect_symmetry(system);
  op_ = system.matrix_operator();
  if (input_.mass) {
    collective_take("mass", *input_.mass);
    mass_ = input_.mass->matrix_operator();
  } else if (!settings_.mass.empty()) {
    collective_load_mass(system.problem());
  }
  solver::SearchHooks hooks{.stops = {}, .checkpoints = checkpoints};
  if (settings_.max_seconds > 0) hooks.stops = [this] { return collective_is_over(); };
  const solver::EigenMethod method = settings_.chosen_method();
  if (method == solver::EigenMethod::lobpcg)
    collective_make_lobpcg(system, hooks);
  else if (method == solver::EigenMethod::filter)
    interior_.emplace(*op_, settings_.search, hooks);
  else if (method == solver::EigenMethod::lanczos_two_pass)
    two_pass_.emplace(*op_, settings_.search, hooks);
  else if (settings_.search.part == solver::SpectrumPart::both)
    both_ends_.emplace(*op_, settings_.search, hooks);
  else
    lanczos_.emplace(*op_, settings_.search, hooks);
  collective_begin();
}

/// Hands on the vectors to begin with, of the caller or of a file.
void EigenSearch::collective_begin() {
  const int most = lobpcg_ ? settings_.search.count : settings_.search.width;
  if (!settings_.start.empty() && input_.start.count > 0)
    throw InputError(option_name("start") + ": found a file, and vectors in memory; expected one");
  if (!settings_.start.empty()) {
    if (!settings_.has_given_order())
      throw InputError(option_name("start") + ": found rows in another order; expected " +
                       option_name("order", "given"));
    spmv::FileColumns columns = collective_read_columns(*op_, "start", settings_.start, most);
    input_.start = {.values = std::move(columns.own), .count = static_cast<int>(columns.count)};
  }
  if (input_.start.count == 0) return;
  if (input_.start.count > most)
    throw InputError(fmt::format("{}: found {} vectors; expected at most {}", option_name("start"),
                                 input_.start.count, most));
  if (lobpcg_)
    lobpcg_->begin_with(std::move(input_.start));
  else
    lanczos_->begin_with(std::move(input_.start));
}

void EigenSearch::collective_load_mass(const spmv::Problem& problem) {
  if (!settings_.has_given_order())
    throw InputError(option_name("mass") + ": found rows in another order; expected " +
                     option_name("order", "given"));
  loaded_mass_ = std::make_unique<LinearSystem>(op_->crew(), mass_problem(problem, settings_.mass),
                                                settings_, false);
  collective_take("mass", *loaded_mass_);
  mass_ = loaded_mass_->matrix_operator();
}

/// Refuses a matrix beside that of the search that is not symmetric or has other rows.
void EigenSearch::collective_take(const char* what, LinearSystem& given) {
  collective_expect_symmetry(given);
  const spmv::SparseOperator& other = *given.matrix_operator();
  if (other.global_row_count() != op_->global_row_count())
    throw InputError(fmt::format("{}: found a matrix of {} rows; expected {}", option_name(what),
                                 other.global_row_count(), op_->global_row_count()));
  if (given.ordering().order ||
      !have_equal_parts(op_->matrix().matrix().partition, other.matrix().matrix().partition))
    throw InputError(option_name(what) +
                     ": found other rows on the ranks than the matrix has; expected " +
                     option_name("partition", "rows") + " and " + option_name("order", "given"));
}

/// That of the settings. One that nobody asked for is left out where the matrix does not suit it.
std::unique_ptr<solver::Preconditioner> EigenSearch::collective_make_own_preconditioner(
    const spmv::Problem& problem) {
  try {
    return collective_make_preconditioner(*op_, settings_, problem).object;
  } catch (const InputError&) {
    if (settings_.has_preconditioner) throw;
    settings_.preconditioner = "none";
    return nullptr;
  }
}

void EigenSearch::collective_make_lobpcg(LinearSystem& system, const solver::SearchHooks& hooks) {
  const SystemContext context = system.context();
  if (input_.preconditioner) {
    collective_take("preconditioner", *input_.preconditioner);
    preconditioner_ = std::make_unique<solver::MatrixPreconditioner>(input_.preconditioner->op(),
                                                                     settings_.search.mode);
  } else if (context.collective_make_preconditioner) {
    preconditioner_ = context.collective_make_preconditioner();
  } else {
    preconditioner_ = collective_make_own_preconditioner(system.problem());
  }
  if (preconditioner_ && !preconditioner_->is_symmetric())
    throw InputError(option_name("preconditioner", settings_.preconditioner_name()) +
                     ": found one that is not symmetric; expected a symmetric one");
  lobpcg_.emplace(*op_, mass_, preconditioner_.get(), settings_.search, hooks);
}

/// A step takes at least some products of blocks: an agreement costs nothing beside it.
bool EigenSearch::collective_is_over() {
  is_over_ = op_->communicator().max(since_start_.seconds()) >= settings_.max_seconds;
  return is_over_;
}

/// Says of a search that was stopped why, and what there is.
void EigenSearch::judge(solver::EigenReport& report) const {
  if (report.status != solver::SolveStatus::stopped) return;
  if (is_over_) report.status = solver::SolveStatus::out_of_time;
  report.explanation = fmt::format(
      "{}{}{} pairs are within the tolerance",
      is_over_ ? fmt::format("max-seconds: {:g} s are over; ", settings_.max_seconds)
               : std::string(),
      report.pairs.size(),
      settings_.search.interval ? std::string() : fmt::format(" of {}", settings_.search.count));
}

/// Certificates, unless the search has made its own.
void EigenSearch::collective_certify(solver::EigenReport& report) {
  const solver::EigenOptions& search = settings_.search;
  const perfmodel::Stopwatch watch;
  if (interior_)
    solver::collective_certify_between(
        *op_, interior_->range(),
        search_bytes(settings_, static_cast<double>(op_->global_row_count()), 1),
        search.certificate, report);
  else
    solver::collective_certify(*op_, mass_, search.end, search.certificate, report);
  certificate_seconds_ = watch.seconds();
}

solver::EigenReport EigenSearch::collective_search() {
  if (lanczos_) return lanczos_->collective_solve();
  if (both_ends_) return both_ends_->collective_solve();
  if (two_pass_) return two_pass_->collective_solve();
  return interior_ ? interior_->collective_solve() : lobpcg_->collective_solve();
}

solver::EigenReport EigenSearch::collective_solve() {
  since_start_ = {};
  solver::EigenReport report = collective_search();
  judge(report);
  if (both_ends_)
    certificate_seconds_ = both_ends_->certificate_seconds();
  else
    collective_certify(report);
  report.why_method = settings_.why_method();
  if (report.is_whole) report.why_method += "; the matrix is small and solved whole";
  if (report.pairs.empty() && report.status == solver::SolveStatus::converged)
    throw InputError(fmt::format("{}: found no eigenvalue ({}); expected an interval with some",
                                 option_name("interval", interval_of(settings_.search)),
                                 report.completeness.why));
  return report;
}

std::vector<double> EigenSearch::collective_vector(int number) const {
  if (both_ends_) return both_ends_->vector(number);
  if (two_pass_) return two_pass_->collective_vector();
  if (interior_) return interior_->collective_vector(number);
  return lanczos_ ? lanczos_->collective_vector(number) : lobpcg_->collective_vector(number);
}

double search_bytes(const EigenSettings& settings, double rows, int ranks) {
  return bytes_of_vectors(settings, rows, ranks, false);
}

double bytes_of_other_vectors(const EigenSettings& settings, double rows, int ranks) {
  const solver::EigenMethod method = settings.chosen_method();
  if (method == solver::EigenMethod::lobpcg || method == solver::EigenMethod::lanczos_two_pass ||
      settings.search.part == solver::SpectrumPart::both)
    return 0;
  const double kept = settings.search.count + settings.search.width;
  const double bytes = bytes_of_vectors(settings, rows, ranks, false);
  return std::max(bytes - rows / ranks * static_cast<double>(sizeof(double)) * kept, 0.0);
}

double certificate_bytes(const EigenSettings& settings, double rows, double nonzeros) {
  constexpr double products_of_each = 100;
  return solver::certificate_bytes(settings.search.certificate, rows, nonzeros,
                                   !settings.mass.empty(),
                                   products_of_each * settings.search.count);
}

double kept_bytes(const EigenSettings& settings, double rows, int ranks) {
  return bytes_of_vectors(settings, rows, ranks, true);
}

}  // namespace weft::library
