#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "library/petsc/call.h"
#include "library/petsc/option_prefix.h"
#include "library/petsc/registration.h"
#include "library/petsc/shared_job.h"
#include "library/petsc/solver_of_mat.h"

namespace weft::petsc {
namespace {

/// Without what KSPSetTolerances says.
const PrefixedOptions& options_of_ksp() {
  static const PrefixedOptions options{
      solver_options(),
      "ksp_weft_",
      {"tolerance", "absolute-tolerance", "divergence", "max-iterations"}};
  return options;
}

struct KspState {
  ~KspState() {
    static_cast<void>(VecDestroy(&residual));
    static_cast<void>(VecDestroy(&correction));
  }
  Options options;
  SolverOfMat solver;
  Report report;
  bool uses_pc = false;  // the preconditioner is one of PETSc
  PC heard = nullptr;  // to which the program may give coordinates
  Vec residual = nullptr;  // of that preconditioner
  Vec correction = nullptr;
  PetscReal scale = 1;  // ||b|| of the solve
};

KspState& state_of_ksp(KSP ksp) { return *static_cast<KspState*>(ksp->data); }

bool is_type_of_pc(KSP ksp, const std::vector<const char*>& types) {
  for (const char* type : types) {
    PetscBool is_same = PETSC_FALSE;
    check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), type, &is_same));
    if (is_same) return true;
  }
  return false;
}

constexpr const char* name_of_owner = "weft_ksp";

/// Of a PC whose KSP is weft's: the program gives coordinates to the PC.
PetscErrorCode set_coordinates_of_ksp(PC pc, PetscInt dimensions, PetscInt nodes,
                                      PetscReal* values) {
  return answer(pc, "PCSetCoordinates_Weft", [&] {
    PetscContainer owner = nullptr;
    check(PetscObjectQuery(reinterpret_cast<PetscObject>(pc), name_of_owner,
                           reinterpret_cast<PetscObject*>(&owner)));
    void* state = nullptr;
    if (owner) check(PetscContainerGetPointer(owner, &state));
    if (state)
      static_cast<KspState*>(state)->solver.use_coordinates(
          coordinates_of(dimensions, nodes, values));
  });
}

/// The PC may be used by others later.
void leave_pc(KSP ksp) {
  KspState& state = state_of_ksp(ksp);
  if (!state.heard) return;
  const auto pc = reinterpret_cast<PetscObject>(state.heard);
  check(PetscObjectCompose(pc, name_of_owner, nullptr));
  check(PetscObjectComposeFunction(pc, name_of_set_coordinates, nullptr));
  check(PCDestroy(&state.heard));
}

/// Takes what a program says to the PC, unless that has a use for it.
void listen_to_pc(KSP ksp) {
  if (!ksp->pc) check(KSPGetPC(ksp, &ksp->pc));
  KspState& state = state_of_ksp(ksp);
  if (state.heard == ksp->pc) return;
  leave_pc(ksp);
  const auto pc = reinterpret_cast<PetscObject>(ksp->pc);
  PetscErrorCode (*own)(PC, PetscInt, PetscInt, PetscReal*) = nullptr;
  check(PetscObjectQueryFunction(pc, name_of_set_coordinates, &own));
  if (own) return;
  PetscContainer owner = nullptr;
  check(PetscContainerCreate(PetscObjectComm(pc), &owner));
  check(PetscContainerSetPointer(owner, &state));
  check(PetscObjectCompose(pc, name_of_owner, reinterpret_cast<PetscObject>(owner)));
  check(PetscContainerDestroy(&owner));
  check(PetscObjectComposeFunction(pc, name_of_set_coordinates, set_coordinates_of_ksp));
  check(PetscObjectReference(pc));
  state.heard = ksp->pc;
}

/// True where somebody has named a preconditioner of PETSc, by -pc_type or in the program: PETSc
/// sets one of three types where nobody has.
bool names_pc(KSP ksp) {
  if (is_type_of_pc(ksp, {PCNONE, "weft"})) return false;
  const char* prefix = nullptr;
  PetscOptions database = nullptr;
  PetscBool is_named = PETSC_FALSE;
  check(PetscObjectGetOptionsPrefix(reinterpret_cast<PetscObject>(ksp->pc), &prefix));
  check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(ksp->pc), &database));
  check(PetscOptionsHasName(database, prefix, "-pc_type", &is_named));
  return is_named || !is_type_of_pc(ksp, {PCILU, PCICC, PCBJACOBI});
}

/// The options of the KSP with its tolerances.
Options options_with_tolerances(KSP ksp) {
  Options options = state_of_ksp(ksp).options;
  options.set("tolerance", ksp->rtol).set("absolute-tolerance", ksp->abstol);
  options.set("max-iterations", std::to_string(ksp->max_it));
  if (ksp->divtol > 1) options.set("divergence", ksp->divtol);
  return options;
}

/// Where nobody has named a method, `auto` chooses one for the matrix. With a near-null space or
/// coordinates amg is meant, for a symmetric matrix.
std::vector<SolverOfMat::Way> ways_of_ksp(KSP ksp, Mat mat) {
  const Options given = options_with_tolerances(ksp);
  if (given.find("method")) return {{given, true}, {given, false}};
  if (state_of_ksp(ksp).uses_pc)
    return {SolverOfMat::for_symmetric(given), SolverOfMat::for_others(given)};
  Options other = given;
  other.set("method", "auto");
  MatNullSpace near_null = nullptr;
  check(MatGetNearNullSpace(mat, &near_null));
  const bool means_amg = near_null || state_of_ksp(ksp).solver.has_coordinates();
  if (!means_amg || given.find("preconditioner")) return {{other, true}};
  Options symmetric = given;
  symmetric.set("preconditioner", "amg");
  return {SolverOfMat::for_symmetric(symmetric), {other, true}};
}

/// z = M r with the preconditioner of PETSc.
void apply_pc_of_petsc(KSP ksp, std::span<const double> r, std::span<double> z) {
  KspState& state = state_of_ksp(ksp);
  if (!state.residual) {
    check(VecDuplicate(ksp->vec_rhs, &state.residual));
    check(VecDuplicate(ksp->vec_rhs, &state.correction));
  }
  {
    const ChangedVec to(state.residual);
    std::copy(r.begin(), r.end(), to.span().begin());
  }
  check(PCApply(ksp->pc, state.residual, state.correction));
  const ReadVec from(state.correction);
  std::copy(from.span().begin(), from.span().end(), z.begin());
}

void collective_prepare(KSP ksp) {
  KspState& state = state_of_ksp(ksp);
  Mat mat = nullptr;
  Mat of_preconditioner = nullptr;
  check(KSPGetOperators(ksp, &mat, &of_preconditioner));
  if (mat != of_preconditioner && !state.uses_pc)
    throw Error(ErrorCode::bad_input,
                "found another matrix for the preconditioner than that of the system; expected "
                "one, or a preconditioner of PETSc (-pc_type)");
  if (!state.uses_pc) return state.solver.collective_take(mat, ways_of_ksp(ksp, mat));
  UserPreconditioner preconditioner;
  preconditioner.apply = [ksp](std::span<const double> r, std::span<double> z) {
    apply_pc_of_petsc(ksp, r, z);
  };
  // Its size does not matter here, and nobody can ask for it before PCSetUp.
  preconditioner.norm = 1;
  state.solver.collective_take(mat, ways_of_ksp(ksp, mat), &preconditioner);
}

/// Called before the preconditioner is set up.
PetscErrorCode set_up_ksp(KSP ksp) {
  return answer(ksp, "KSPSetUp_Weft", [&] {
    if (!ksp->pc) check(KSPGetPC(ksp, &ksp->pc));
    KspState& state = state_of_ksp(ksp);
    state.uses_pc = names_pc(ksp);
    // Nothing of PETSc is to be set up for nobody.
    if (!state.uses_pc) check(PCSetType(ksp->pc, PCNONE));
    collective_prepare(ksp);
  });
}

KSPConvergedReason reason_of(KSP ksp, const Report& report) {
  switch (report.status) {
    case Status::converged:
      return ksp->rnorm <= ksp->rtol * state_of_ksp(ksp).scale ? KSP_CONVERGED_RTOL
                                                               : KSP_CONVERGED_ATOL;
    case Status::diverged:
      return KSP_DIVERGED_DTOL;
    case Status::not_converged:
      if (report.iterations < ksp->max_it) return KSP_DIVERGED_BREAKDOWN;
      break;
    case Status::breakdown:
      return std::isfinite(report.relative_residual) ? KSP_DIVERGED_BREAKDOWN
                                                     : KSP_DIVERGED_NANORINF;
    case Status::stopped:
    case Status::out_of_time:
      break;
  }
  return KSP_DIVERGED_ITS;
}

/// Tells PETSc of an iteration.
void note_iteration(KSP ksp, std::int64_t iteration, PetscReal norm) {
  ksp->its = static_cast<PetscInt>(iteration);
  ksp->rnorm = norm;
  check(KSPLogResidualHistory(ksp, norm));
  check(KSPMonitor(ksp, ksp->its, norm));
}

PetscErrorCode solve_ksp(KSP ksp) {
  return answer(ksp, "KSPSolve_Weft", [&] {
    KspState& state = state_of_ksp(ksp);
    if (ksp->transpose_solve)
      throw Error(ErrorCode::bad_input, "found KSPSolveTranspose; expected KSPSolve");
    // Where tolerances are others than at the set-up.
    collective_prepare(ksp);
    check(VecNorm(ksp->vec_rhs, NORM_2, &state.scale));
    if (ksp->guess_zero) note_iteration(ksp, 0, state.scale);
    state.solver.solver().set_monitor([ksp](std::int64_t iteration, double residual) {
      note_iteration(ksp, iteration, residual * state_of_ksp(ksp).scale);
      return false;
    });
    {
      const ReadVec b(ksp->vec_rhs);
      const ChangedVec x(ksp->vec_sol);
      state.report = state.solver.solver().solve(
          b.span(), x.span(), ksp->guess_zero ? Start::from_zero : Start::from_guess);
    }
    ksp->its = static_cast<PetscInt>(state.report.iterations);
    ksp->rnorm = state.report.relative_residual * state.scale;
    ksp->reason = reason_of(ksp, state.report);
  });
}

template <class Items>
PetscErrorCode set_ksp_from_options(KSP ksp, Items items) {
  return answer(ksp, "KSPSetFromOptions_Weft", [&] {
    read_options(items, options_of_ksp(), state_of_ksp(ksp).options);
    listen_to_pc(ksp);
  });
}

PetscErrorCode view_ksp(KSP ksp, PetscViewer viewer) {
  return answer(ksp, "KSPView_Weft", [&] {
    KspState& state = state_of_ksp(ksp);
    print_lines(viewer, lines_of(job_of(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)))));
    std::vector<std::string> lines = state.solver.lines();
    lines.push_back(state.uses_pc ? "the preconditioner is PETSc's"
                                  : "the preconditioner is weft's, not the PC below");
    const Report& report = state.report;
    if (!report.method.empty()) {
      lines.push_back("last solve: " + std::string(name(report.status)) + " after " +
                      std::to_string(report.iterations) + " iterations of " + report.method +
                      ", preconditioner " + report.preconditioner + ", mode " + report.mode);
      if (!report.explanation.empty()) lines.push_back(report.explanation);
      for (const std::string& decision : report.decisions) lines.push_back(decision);
    }
    print_lines(viewer, lines);
  });
}

PetscErrorCode reset_ksp(KSP ksp) {
  return answer(ksp, "KSPReset_Weft", [&] {
    KspState& state = state_of_ksp(ksp);
    state.solver.clear();
    check(VecDestroy(&state.residual));
    check(VecDestroy(&state.correction));
  });
}

PetscErrorCode destroy_ksp(KSP ksp) {
  return answer(ksp, "KSPDestroy_Weft", [&] {
    leave_pc(ksp);
    delete static_cast<KspState*>(ksp->data);
    ksp->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_ksp(KSP ksp) {
  return answer(ksp, "KSPCreate_Weft", [&] {
    ksp->data = std::make_unique<KspState>().release();
    // Other values of the matrix are taken in the set-up, too.
    ksp->setupnewmatrix = PETSC_TRUE;
    check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
    check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
    ksp->ops->setup = set_up_ksp;
    ksp->ops->solve = solve_ksp;
    ksp->ops->setfromoptions =
        set_ksp_from_options<typename ItemsOf<decltype(ksp->ops->setfromoptions)>::Type>;
    ksp->ops->view = view_ksp;
    ksp->ops->reset = reset_ksp;
    ksp->ops->destroy = destroy_ksp;
    ksp->ops->buildsolution = KSPBuildSolutionDefault;
    ksp->ops->buildresidual = KSPBuildResidualDefault;
  });
}

}  // namespace weft::petsc
