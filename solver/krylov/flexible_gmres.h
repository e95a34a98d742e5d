#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "solver/krylov/gmres.h"

namespace weft::solver {

/// Flexible GMRES(m): M may be another one in each iteration, such as an inner iteration.
///
///     A·Z = V₊·H, z_j = M_j·v_j;  x += Z·y
///
/// Gmres applies M once more at the end of a cycle, to V·y, which is right only for a linear M;
/// this method keeps all z_j instead. With a linear M both take the same iterations.
///
/// Bytes an iteration: those of Gmres and 24 for z_j. Memory: 2·m + 4 vectors.
/// Source: Saad 1993, "A flexible inner-outer preconditioned GMRES algorithm".
class FlexibleGmres final : public Gmres {
 public:
  static constexpr MethodFacts facts{
      .name = "fgmres",
      .summary = "gmres that lets the preconditioner change in every iteration",
      .reductions = 2,
      .products = 1,
      .has_restart = true};
  static MethodNeeds needs(const MethodUse& use) {
    MethodNeeds needs = needs_of(facts.name, use);
    needs.arrays += use.restart;  // Z
    needs.vector_bytes += 24;
    return needs;
  }
  MethodNeeds needs() const override { return needs(use()); }

  /// As Gmres.
  FlexibleGmres(spmv::LinearOperator& op, const Options& options) : Gmres(op, options) {
    for (int i = 0; i < this->options().restart; ++i) directions_.push_back(make_array());
  }

 private:
  void collective_precondition(const comm_thread::TeamThread& thread, std::size_t k) override {
    Gmres::collective_precondition(thread, k);
    copy(thread, z(), directions_[k].data());
  }
  void collective_combine(const comm_thread::TeamThread& thread,
                          std::span<const double> y) override {
    add_up(thread, y, directions_, z());
  }

  std::vector<Array> directions_;  // Z, [m]
};

}  // namespace weft::solver
