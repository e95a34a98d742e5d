#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/hessenberg_least_squares.h"
#include "solver/krylov/method.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Restarted GMRES(m) for any matrix, preconditioned from the right by any M:
///
///     cycle:  v₀ = r/‖r‖;  A·M·V = V₊·H;  y = argmin ‖ ‖r‖·e₁ − H·y ‖;  x += M·V·y;  r = b − A·x
///
/// so that the norm it minimizes is the residual's own, and what it reports as that of the
/// recurrence is the true one wherever a cycle ends. Every new vector is made orthogonal to those
/// before twice, by classical Gram-Schmidt, which loses no orthogonality and takes two reductions
/// whatever their number; its norm comes with the second.
///
/// A cycle ends early where the new vector lies in the space of the others: with the solution
/// unless A·M is singular. A cycle that brings nothing is a breakdown, for the next would be equal.
///
/// Bytes an iteration: columns are read three times, half of the m on average; a block of each is
/// in cache for the second update's products. Memory: m + 4 vectors.
/// Source: Saad and Schultz 1986, "GMRES"; Giraud, Langou, Rozložník 2005 (Gram-Schmidt twice).
class Gmres : public KrylovMethod {
 public:
  static constexpr MethodFacts facts{.name = "gmres",
                                     .summary = "for any matrix and any preconditioner",
                                     .reductions = 2,
                                     .products = 1,
                                     .has_restart = true};
  static MethodNeeds needs(const MethodUse& use) { return needs_of(facts.name, use); }
  MethodNeeds needs() const override { return needs(use()); }

  /// As KrylovMethod. `options.restart`: m, at least 1. FlexibleGmres derives from it.
  Gmres(spmv::LinearOperator& op, Options options);

 protected:
  /// Bytes and flops are those of a whole cycle, on average. A checkpoint holds x at the start of a
  /// cycle, from which all else follows: the iterations of a cycle that is cut are repeated.
  static MethodNeeds needs_of(const std::string& name, const MethodUse& use);
  /// z = M·v_k, from which the next vector is made. Every thread.
  virtual void collective_precondition(const comm_thread::TeamThread& thread, std::size_t k);
  /// z = M·V·y; may change the last vector. Every thread.
  virtual void collective_combine(const comm_thread::TeamThread& thread, std::span<const double> y);
  /// to = Σ y_j·vectors_j.
  void add_up(const comm_thread::TeamThread& thread, std::span<const double> y,
              const std::vector<Array>& vectors, double* to);
  double* z() { return z_->values(); }

 private:
  /// Values that each thread computes for itself, all of them the same.
  struct alignas(64) ThreadState {
    explicit ThreadState(std::size_t restart);

    HessenbergLeastSquares projected;
    std::vector<double> column;  // of H
    std::vector<double> correction;  // of the column, by the second projection
    std::vector<spmv::BinnedSum> sums;  // this thread's part of them
  };

  Spare spare() override { return {z_.get(), basis_.back().data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  ThreadState& state(const comm_thread::TeamThread& thread) {
    return states_[static_cast<std::size_t>(thread.index)];
  }
  void collective_apply(const comm_thread::TeamThread& thread, const Array& v);
  double collective_square_of(const comm_thread::TeamThread& thread, const Array& v, double bound);
  template <class Work>
  void collective_sum(const comm_thread::TeamThread& thread, std::size_t count, const Work& work);
  template <class Work>
  void for_each_block(const comm_thread::TeamThread& thread, const Work& work) const;
  template <class Change>
  void collective_project(const comm_thread::TeamThread& thread, std::size_t k, double bound,
                          double square_bound, const Change& change);
  bool collective_orthogonalise(const comm_thread::TeamThread& thread, std::size_t k);
  std::vector<double*> carried() override { return {x_.data()}; }
  double collective_restore(const comm_thread::TeamThread& thread, Solve& solve);
  void collective_cycle(const comm_thread::TeamThread& thread, double norm, Solve& solve);
  double collective_correct(const comm_thread::TeamThread& thread, std::span<const double> b,
                            double norm);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum sums_;  // with each column, and of the vector with itself
  std::vector<ThreadState> states_;
  std::unique_ptr<spmv::Operand> z_;
  std::vector<Array> basis_;  // [m + 1]
};

}  // namespace weft::solver
