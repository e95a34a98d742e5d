#include "library/petsc/weft_eps.h"

#include <slepc/private/epsimpl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "library/petsc/call.h"
#include "library/petsc/matrix_of_mat.h"
#include "library/petsc/option_prefix.h"
#include "library/petsc/shared_job.h"

namespace weft::petsc {
namespace {

/// Without what EPSSetDimensions and EPSSetTolerances say.
const PrefixedOptions& options_of_eps() {
  static const PrefixedOptions options{
      eigenvalue_options(), "eps_weft_", {"count", "tolerance", "mass"}};
  return options;
}

struct EpsState {
  Options options;
  MatrixOfMat matrix;
  MatrixOfMat mass;  // of a generalized problem
  std::vector<std::string> statements;  // of the last search
};

EpsState& state_of_eps(EPS eps) { return *static_cast<EpsState*>(eps->data); }

/// One eigenvalue of a search.
struct Found {
  const Eigenvalues* search;
  std::size_t number;

  double value() const { return search->values[number]; }
  /// As EPSSetConvergenceTest measures it.
  double error(EPSConv measure) const {
    const double residual = search->residuals[number];
    if (measure == EPS_CONV_ABS) return residual;
    const double size = measure == EPS_CONV_NORM ? search->norm : std::abs(value());
    return size > 0 ? residual / size : std::numeric_limits<double>::infinity();
  }
};

void expect(bool is_so, const std::string& found, const std::string& expected) {
  if (!is_so) throw Error(ErrorCode::bad_input, "found " + found + "; expected " + expected);
}

/// The tolerance, relative to ‖A‖, at which the errors of all values are below eps->tol.
double finer_tolerance(EPS eps, const Eigenvalues& found) {
  double least = found.norm;
  if (eps->conv == EPS_CONV_ABS) least = 1;
  if (eps->conv == EPS_CONV_REL)
    for (const double value : found.values) least = std::min(least, std::abs(value));
  return std::max(1e-14, 0.5 * eps->tol * least / found.norm);
}

/// The shortest text of a number with the same bits.
std::string text_of(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

/// The eigenvalues that `wanted` asks for, with errors below eps->tol as far as rounding lets them.
/// Collective.
Eigenvalues collective_search(EPS eps, const Options& wanted) {
  EpsState& state = state_of_eps(eps);
  Options options = state.options;
  for (const auto& [name, value] : wanted.all()) options.set(name, value);
  if (!options.find("max-restarts") && eps->max_it > 0)
    options.set("max-restarts", std::to_string(eps->max_it));
  EigenInput input;
  if (eps->isgeneralized) input.mass = &state.mass.matrix();
  double tolerance = std::clamp(double(eps->tol), 1e-14, 1.0);
  for (;;) {
    options.set("tolerance", tolerance);
    Eigenvalues found = eigenvalues(state.matrix.matrix(), options, Eigenvectors::own_rows, input);
    bool is_exact = true;
    for (std::size_t number = 0; number < found.values.size(); ++number)
      is_exact = is_exact && Found{&found, number}.error(eps->conv) <= eps->tol;
    const double finer = is_exact ? tolerance : finer_tolerance(eps, found);
    eps->its += static_cast<PetscInt>(found.restarts) + 1;
    if (is_exact || !found.converged() || finer > 0.9 * tolerance) {
      state.statements.push_back(petsc::text_of(wanted) + ": " +
                                 std::to_string(found.values.size()) + " eigenvalues, " +
                                 std::to_string(found.products) + " products: " + found.statement);
      return found;
    }
    tolerance = finer;
  }
}

Eigenvalues collective_search(EPS eps, const std::string& which, PetscInt count) {
  return collective_search(eps, Options{{"which", which}, {"count", std::to_string(count)}});
}

/// Those of the largest modulus lie at both ends. Collective.
std::vector<Eigenvalues> collective_largest_modulus(EPS eps) {
  std::vector<Eigenvalues> ends;
  ends.push_back(collective_search(eps, "largest", eps->nev));
  if (ends.front().values.empty()) return ends;
  const double last = ends.front().values.back();
  ends.push_back(collective_search(eps, "smallest", 1));
  const std::vector<double>& others = ends.back().values;
  if (eps->nev > 1 && !others.empty() && -others.front() > last)
    ends.back() = collective_search(eps, "smallest", eps->nev);
  return ends;
}

/// The lower end, where no eigenvalue is negative. Collective.
Eigenvalues collective_least_modulus(EPS eps) {
  Eigenvalues end = collective_search(eps, "smallest", eps->nev);
  if (end.values.empty() || end.values.front() >= 0) return end;
  return collective_search(eps, "near:0", eps->nev);
}

std::vector<Eigenvalues> collective_searches(EPS eps) {
  const Options& given = state_of_eps(eps).options;
  if (given.find("interval")) return {collective_search(eps, Options{})};
  if (const auto which = given.find("which")) return {collective_search(eps, *which, eps->nev)};
  switch (eps->which) {
    case EPS_LARGEST_MAGNITUDE:
      return collective_largest_modulus(eps);
    case EPS_SMALLEST_MAGNITUDE:
      return {collective_least_modulus(eps)};
    case EPS_LARGEST_REAL:
      return {collective_search(eps, "largest", eps->nev)};
    case EPS_SMALLEST_REAL:
      return {collective_search(eps, "smallest", eps->nev)};
    case EPS_TARGET_MAGNITUDE:
    case EPS_TARGET_REAL:
      return {collective_search(eps, "near:" + text_of(eps->target), eps->nev)};
    case EPS_ALL:
      return {collective_search(
          eps, Options{{"interval", text_of(eps->inta) + ":" + text_of(eps->intb)}})};
    default:
      throw Error(ErrorCode::bad_input,
                  "found imaginary parts, or an order of the program's own; expected "
                  "-eps_smallest_real, -eps_largest_real, -eps_smallest_magnitude, "
                  "-eps_largest_magnitude, -eps_target or -eps_interval");
  }
}

/// Keeps value and vector as number `place` of the EPS.
void keep(EPS eps, PetscInt place, const Found& found, double error) {
  eps->eigr[place] = found.value();
  eps->eigi[place] = 0;
  eps->errest[place] = error;
  Vec column = nullptr;
  check(BVGetColumn(eps->V, place, &column));
  {
    const ChangedVec to(column);
    const std::size_t count = found.search->values.size();
    for (std::size_t row = 0; row < to.span().size(); ++row)
      to.span()[row] = found.search->vectors[row * count + found.number];
  }
  check(BVRestoreColumn(eps->V, place, &column));
}

/// For so many values and vectors.
void make_room(EPS eps, PetscInt count) {
  if (count <= eps->ncv) return;
  eps->ncv = count;
  eps->mpd = std::max(eps->mpd, count);
  check(EPSAllocateSolution(eps, 0));
}

PetscErrorCode solve_eps(EPS eps) {
  return answer(eps, "EPSSolve_Weft", [&] {
    EpsState& state = state_of_eps(eps);
    state.statements.clear();
    Mat mat = nullptr;
    check(STGetMatrix(eps->st, 0, &mat));
    state.matrix.collective_take(mat);
    if (eps->isgeneralized) {
      check(STGetMatrix(eps->st, 1, &mat));
      state.mass.collective_take(mat);
    }
    const std::vector<Eigenvalues> searches = collective_searches(eps);
    std::vector<Found> found;
    bool is_whole = true;
    for (const Eigenvalues& search : searches) {
      is_whole = is_whole && search.converged();
      for (std::size_t number = 0; number < search.values.size(); ++number)
        found.push_back({&search, number});
    }
    if (searches.size() > 1)
      std::ranges::sort(found, std::greater{},
                        [](const Found& each) { return std::abs(each.value()); });
    if (eps->which == EPS_ALL || state.options.find("interval"))
      eps->nev = static_cast<PetscInt>(found.size());
    found.resize(std::min(found.size(), static_cast<std::size_t>(eps->nev)));
    make_room(eps, eps->nev);
    for (const Found& each : found) {
      const double error = each.error(eps->conv);
      // A search ends at 1e-14·‖A‖, where rounding is as large.
      if (error > eps->tol && each.search->residuals[each.number] > 2e-14 * each.search->norm)
        break;
      keep(eps, eps->nconv++, each, error);
    }
    eps->reason = is_whole && eps->nconv >= eps->nev ? EPS_CONVERGED_TOL : EPS_DIVERGED_ITS;
  });
}

/// What weft::eigenvalues does not search for.
void check_problem(EPS eps) {
  expect(eps->ishermitian && (!eps->isgeneralized || eps->ispositive),
         "a problem that is not said to be Hermitian",
         "-eps_hermitian or -eps_gen_hermitian, EPSSetProblemType(eps, EPS_HEP or EPS_GHEP)");
  PetscBool is_shift = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(eps->st), STSHIFT, &is_shift));
  PetscScalar shift = 0;
  check(STGetShift(eps->st, &shift));
  const bool wants_none = eps->which == EPS_TARGET_MAGNITUDE || eps->which == EPS_TARGET_REAL;
  expect(is_shift && (shift == 0 || wants_none), "a spectral transformation (-st_type, -st_shift)",
         "none: weft finds values inside the spectrum without one");
  expect(eps->conv != EPS_CONV_USER, "a convergence test of the program",
         "-eps_conv_rel, -eps_conv_abs or -eps_conv_norm");
  PetscBool is_everything = PETSC_TRUE;
  check(RGIsTrivial(eps->rg, &is_everything));
  expect(eps->nds == 0 && eps->balance == EPS_BALANCE_NONE && !eps->arbitrary && !eps->twosided &&
             is_everything,
         "a deflation space, balancing, an arbitrary selection, left vectors or a region",
         "none of these");
}

PetscErrorCode set_up_eps(EPS eps) {
  return answer(eps, "EPSSetUp_Weft", [&] {
    eps->nev = std::max<PetscInt>(eps->nev, 1);
    // Both ends have to have room.
    eps->ncv = std::max(eps->ncv, eps->nev);
    eps->mpd = std::max<PetscInt>(eps->mpd, eps->ncv);
    if (eps->max_it <= 0) eps->max_it = 100;
    if (!(eps->tol > 0)) eps->tol = SLEPC_DEFAULT_TOL;
    if (!eps->which) eps->which = EPS_LARGEST_MAGNITUDE;
    check_problem(eps);
    check(EPSAllocateSolution(eps, 0));
  });
}

/// The order of the values, which SLEPc sorts by.
PetscErrorCode set_up_order(EPS eps) {
  using Comparison = decltype(eps->sc->comparison);
  const std::vector<std::pair<EPSWhich, Comparison>> orders{
      {EPS_SMALLEST_REAL, SlepcCompareSmallestReal},
      {EPS_LARGEST_REAL, SlepcCompareLargestReal},
      {EPS_TARGET_MAGNITUDE, SlepcCompareTargetMagnitude},
      {EPS_TARGET_REAL, SlepcCompareTargetReal},
      {EPS_ALL, SlepcCompareSmallestReal},
      {EPS_SMALLEST_MAGNITUDE, SlepcCompareSmallestMagnitude}};
  eps->sc->comparison = SlepcCompareLargestMagnitude;
  for (const auto& [which, comparison] : orders)
    if (eps->which == which) eps->sc->comparison = comparison;
  eps->sc->comparisonctx = &eps->target;
  eps->sc->map = nullptr;
  eps->sc->mapobj = nullptr;
  return static_cast<PetscErrorCode>(0);
}

/// Values are those of the matrix already.
PetscErrorCode keep_values(EPS) { return static_cast<PetscErrorCode>(0); }

template <class Items>
PetscErrorCode set_eps_from_options(EPS eps, Items PetscOptionsObject) {
  return answer(eps, "EPSSetFromOptions_Weft", [&] {
    read_options(PetscOptionsObject, options_of_eps(), state_of_eps(eps).options);
  });
}

PetscErrorCode view_eps(EPS eps, PetscViewer viewer) {
  return answer(eps, "EPSView_Weft", [&] {
    print_lines(viewer, lines_of(job_of(PetscObjectComm(reinterpret_cast<PetscObject>(eps)))));
    print_lines(viewer, state_of_eps(eps).statements);
  });
}

PetscErrorCode reset_eps(EPS eps) {
  return answer(eps, "EPSReset_Weft", [&] {
    state_of_eps(eps).matrix.clear();
    state_of_eps(eps).mass.clear();
  });
}

PetscErrorCode destroy_eps(EPS eps) {
  return answer(eps, "EPSDestroy_Weft", [&] {
    delete static_cast<EpsState*>(eps->data);
    eps->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_eps(EPS eps) {
  return answer(eps, "EPSCreate_Weft", [&] {
    eps->data = std::make_unique<EpsState>().release();
    eps->categ = EPS_CATEGORY_OTHER;
    eps->useds = PETSC_FALSE;
    eps->ops->setup = set_up_eps;
    eps->ops->setupsort = set_up_order;
    eps->ops->solve = solve_eps;
    eps->ops->backtransform = keep_values;
    eps->ops->setfromoptions =
        set_eps_from_options<typename ItemsOf<decltype(eps->ops->setfromoptions)>::Type>;
    eps->ops->view = view_eps;
    eps->ops->reset = reset_eps;
    eps->ops->destroy = destroy_eps;
  });
}

}  // namespace weft::petsc
