#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "solver/krylov/method.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// One row of the table of Krylov methods. A new method is a class and a row; programs read their
/// choices, help texts and checks from the table.
struct KrylovEntry {
  const char* name;  // on the command line and in reports
  const char* summary;  // for help texts
  int reductions;  // an iteration
  int products;  // A·x an iteration that go through memory
  bool needs_symmetric_matrix;
  bool needs_symmetric_preconditioner;
  /// True if the reduction travels beside the product, which pays only with other ranks.
  bool hides_reduction;
  /// True if the method does the same in exact arithmetic as `cg`, so that `auto` may choose it.
  bool is_cg_variant;
  /// True for GMRES and its like, which begin again after some iterations.
  bool has_restart;
  /// Floating point operations per row and iteration besides the products, without M; 0 where
  /// perfmodel counts them.
  int vector_flops;
  /// True if the operator must be a spmv::StencilOperator, or the preconditioner a
  /// MultigridPreconditioner.
  bool needs_grid;

  /// Collective. Thread: the main thread, outside the team. `op` outlives the method.
  std::unique_ptr<KrylovMethod> (*collective_make)(spmv::LinearOperator& op,
                                                   const KrylovMethod::Options& options);
};

/// All Krylov methods. Operators on grids get a form that applies A again instead of storing
/// products, where there is one (TwoPassCg, StencilCg).
std::span<const KrylovEntry> krylov_methods();

/// The entry of that name, or null.
const KrylovEntry* find_krylov_method(std::string_view name);

}  // namespace weft::solver
