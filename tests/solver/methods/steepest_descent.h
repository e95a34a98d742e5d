#pragma once

#include <memory>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/method.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Steepest descent, the method that added_method_mpi_test adds to a copy of the method table:
///
///     z = M·r; q = A·z; α = (r·z)/(z·q); x += α·z; r -= α·q
///
/// Three reductions an iteration. Bytes per row besides the matrix: 104. Source: Cauchy 1847.
class SteepestDescent final : public KrylovMethod {
 public:
  static constexpr MethodFacts facts{.name = "steepest-descent",
                                     .summary = "Cauchy: along the residual",
                                     .reductions = 3,
                                     .products = 1,
                                     .arrays = {4, 4, 4},
                                     .carried = {2, 2, 2},
                                     .vector_bytes = {104, 104, 104},
                                     .flops = {10, 11, 10},
                                     .needs_symmetric_matrix = true,
                                     .needs_symmetric_preconditioner = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  SteepestDescent(spmv::LinearOperator& op, Options options);

 private:
  Spare spare() override { return {z_.get(), q_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::vector<double*> carried() override { return {x_.data(), r_.data()}; }
  double collective_dot(const comm_thread::TeamThread& thread, const double* a, const double* b,
                        double bound);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum sum_;
  std::unique_ptr<spmv::Operand> z_;
  Array r_;
  Array q_;
};

}  // namespace weft::solver
