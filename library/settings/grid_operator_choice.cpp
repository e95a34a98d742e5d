#include "library/settings/grid_operator_choice.h"

#include "spmv/grid/diffusion_operator.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::library {

std::unique_ptr<spmv::GridOperator> collective_make_grid_operator(
    const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
    const comm_thread::ComputeTeam& team, const spmv::Problem& problem) {
  if (problem.kind == spmv::ProblemKind::diffusion3d)
    return std::make_unique<spmv::DiffusionOperator>(communicator, comm_thread, team, problem);
  return std::make_unique<spmv::StencilOperator>(communicator, comm_thread, team,
                                                 spmv::GridStencil::of(problem));
}

}  // namespace weft::library
