#include <petsc/private/pcimpl.h>

#include <limits>
#include <memory>
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

/// Without what is about methods and their end, which are PETSc's.
const PrefixedOptions& options_of_pc() {
  static const PrefixedOptions options{
      solver_options(),
      "pc_weft_",
      {"method", "restart", "force", "mode", "tolerance", "max-iterations", "history",
       "max-seconds", "divergence", "scale", "absolute-tolerance"}};
  return options;
}

struct PcState {
  /// PETSc multiplies with its Mat, so that storing this one in another form gains nothing.
  PcState() { solver.use_matrix_options({{"format", "crs"}}); }

  Options options;
  PetscInt groups_per_node = 0;  // that ranks hand their rows in; 0: every rank keeps its own
  SolverOfMat solver;
};

PcState& state_of_pc(PC pc) { return *static_cast<PcState*>(pc->data); }

/// A preconditioner is set up with a method, which is never used: one for symmetric matrices, or
/// one for others, with a single vector.
std::vector<SolverOfMat::Way> ways_of_pc(const Options& given) {
  Options symmetric = given;
  Options other = given;
  if (!given.find("preconditioner")) {
    symmetric.set("preconditioner", "amg");
    other.set("preconditioner", "ilu0");
  }
  other.set("restart", "1");
  return {SolverOfMat::for_symmetric(symmetric), SolverOfMat::for_others(other)};
}

PetscErrorCode set_up_pc(PC pc) {
  return answer(pc, "PCSetUp_Weft", [&] {
    PcState& state = state_of_pc(pc);
    const MPI_Comm communicator = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
    const auto groups = static_cast<int>(state.groups_per_node);
    const NodeGroup* const group = groups > 0 ? &group_of(communicator, groups) : nullptr;
    if (group != state.solver.group()) state.solver.clear();
    state.solver.use_group(group);
    state.solver.collective_take(pc->pmat, ways_of_pc(state.options));
  });
}

PetscErrorCode apply_pc(PC pc, Vec residual, Vec correction) {
  return answer(pc, "PCApply_Weft", [&] {
    const ReadVec from(residual);
    const ChangedVec to(correction);
    state_of_pc(pc).solver.collective_precondition(from.span(), to.span());
  });
}

PetscErrorCode apply_pc_transposed(PC pc, Vec residual, Vec correction) {
  return answer(pc, "PCApplyTranspose_Weft", [&] {
    if (!state_of_pc(pc).solver.way().is_for_symmetric)
      throw Error(ErrorCode::bad_input,
                  "found a transposed preconditioner of a matrix that is not symmetric; expected "
                  "a method without");
    check(apply_pc(pc, residual, correction));
  });
}

PetscErrorCode set_coordinates(PC pc, PetscInt dimensions, PetscInt nodes, PetscReal* values) {
  return answer(pc, "PCSetCoordinates_Weft", [&] {
    state_of_pc(pc).solver.use_coordinates(coordinates_of(dimensions, nodes, values));
  });
}

template <class Items>
PetscErrorCode set_pc_from_options(PC pc, Items items) {
  return answer(pc, "PCSetFromOptions_Weft", [&] {
    PcState& state = state_of_pc(pc);
    read_options(items, options_of_pc(), state.options);
    PetscInt groups = state.groups_per_node;
    check(PetscOptionsInt_Private(
        items, "-pc_weft_ranks_per_node",
        "Ranks of a node that take the rows of the others and have their cores; 0: all keep theirs",
        "weft", groups, &groups, nullptr, std::numeric_limits<PetscInt>::min(),
        std::numeric_limits<PetscInt>::max()));
    if (groups < 0 || groups > 4096)
      throw Error(ErrorCode::bad_input, "option -pc_weft_ranks_per_node: found " +
                                            std::to_string(groups) +
                                            "; expected a whole number from 0 to 4096");
    state.groups_per_node = groups;
  });
}

PetscErrorCode view_pc(PC pc, PetscViewer viewer) {
  return answer(pc, "PCView_Weft", [&] {
    const SolverOfMat& solver = state_of_pc(pc).solver;
    if (!solver.group())
      print_lines(viewer, lines_of(job_of(PetscObjectComm(reinterpret_cast<PetscObject>(pc)))));
    else if (solver.group()->is_leader())  // the first rank is one, and it prints
      print_lines(viewer, lines_of(solver.group()->job()));
    print_lines(viewer, solver.lines());
  });
}

PetscErrorCode reset_pc(PC pc) {
  return answer(pc, "PCReset_Weft", [&] { state_of_pc(pc).solver.clear(); });
}

PetscErrorCode destroy_pc(PC pc) {
  return answer(pc, "PCDestroy_Weft", [&] {
    delete static_cast<PcState*>(pc->data);
    pc->data = nullptr;
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), name_of_set_coordinates,
                                     nullptr));
  });
}

}  // namespace

PetscErrorCode create_pc(PC pc) {
  return answer(pc, "PCCreate_Weft", [&] {
    pc->data = std::make_unique<PcState>().release();
    pc->ops->setup = set_up_pc;
    pc->ops->apply = apply_pc;
    pc->ops->applytranspose = apply_pc_transposed;
    pc->ops->setfromoptions =
        set_pc_from_options<typename ItemsOf<decltype(pc->ops->setfromoptions)>::Type>;
    pc->ops->view = view_pc;
    pc->ops->reset = reset_pc;
    pc->ops->destroy = destroy_pc;
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), name_of_set_coordinates,
                                     set_coordinates));
  });
}

}  // namespace weft::petsc
