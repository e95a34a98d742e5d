#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/fitted_sums.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// The loop of all variants of conjugate gradients with one reduction an iteration.
///
/// Such variants compute p·A·p, or r itself, by recurrences that rounding spoils. Where the
/// denominator of α is not positive, the method begins again from the true residual b − A·x, and
/// the report says so. All steps are in terms of u = M·r; with the identity or a diagonal D⁻¹, u is
/// stored in place of r = D·u.
class ReducedCg : public KrylovMethod {
 protected:
  /// Collective. A reduction is of `sum_count` sums.
  ReducedCg(spmv::LinearOperator& op, Options options, int sum_count);

  /// Scalars that are known between two steps; every thread has the same.
  struct State {
    bool has_direction = false;  // false at the start and after beginning again
    double r_square = 0;  // ‖r‖², of the last step; at the start a bound of it
    double r_dot_u = 0;  // of the last step
    double alpha = 0;  // of the last step
    double p_norm = 0;  // upper bound of ‖p‖
    double fresh_square = 0;  // ‖r‖² when u was last made as M·r
    /// True if u, by its recurrence, is no longer near M·r where M rounds as single precision does.
    bool is_stale(double square) const { return square < 1e-6 * fresh_square; }
  };
  /// The next step: p = u + β·p, x += α·p and all that follows from it.
  struct Step {
    double r_square = 0;
    double r_dot_u = 0;
    double alpha = 0;
    double beta = 0;
    double denominator = 0;  // of α; not positive: unusable
  };
  /// Restarts from the true residual.
  struct Restarts {
    double least_norm = std::numeric_limits<double>::infinity();  // ‖b − A·x‖ at one of them
    int vain = 0;  // in succession
    bool is_last = false;  // nothing has been done since one
    /// `norm`: before the next step.
    void note(double norm);
  };

  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) final;

  /// Computes what follows from the vectors that a checkpoint has restored. Every thread.
  virtual void collective_complete(const comm_thread::TeamThread& thread) = 0;
  /// Products of u and the reduction; the next step follows from them.
  virtual Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) = 0;
  virtual void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                                  const Step& step) = 0;

  /// β and α from γ = r·u and δ = u·A·u. Source: Chronopoulos and Gear 1989.
  static Step step_from(const State& state, double r_square, double gamma, double delta);

  // The sums, number by number; the first are r·r and r·u, which with the identity is left out.

  static constexpr std::size_t most_products = FittedSums::most_sums;
  /// A vector, or D times a vector that is stored in its place.
  struct Factor {
    const double* values;
    bool is_scaled;
  };
  /// Σ a_i·b_i, whose estimate is ‖A‖ and ‖M‖, so many times, times r·r, or p·p.
  struct Product {
    Factor a;
    Factor b;
    int norms;
    int inverses;
    bool is_of_p = false;
  };
  static Factor as_stored(const double* values) { return {values, false}; }
  /// A vector v of a general preconditioner, or D·`scaled` instead.
  Factor of_any(const Array& v, const double* scaled) const {
    return {general() ? v.data() : scaled, !general()};
  }
  void set_products(std::vector<Product> products) { products_ = std::move(products); }

  template <class Sum>
  double next_bound(const comm_thread::TeamThread& thread, std::size_t number, double r_square,
                    double p_square = 0) {
    return fitted_.next<Sum>(thread, static_cast<int>(number),
                             estimate(number, r_square, p_square));
  }
  /// The first `count` sums of a pass.
  template <std::size_t count>
  std::array<spmv::CloseSum, count> next_sums(const comm_thread::TeamThread& thread,
                                              double r_square, double p_square = 0) {
    return [&]<std::size_t... number>(std::index_sequence<number...>) {
      return std::array{
          spmv::CloseSum(next_bound<spmv::CloseSum>(thread, number, r_square, p_square))...};
    }(std::make_index_sequence<count>());
  }
  template <std::size_t count>
  void flush(const comm_thread::TeamThread& thread, std::array<spmv::CloseSum, count>& sums) {
    int number = 0;
    for (spmv::CloseSum& sum : sums) sum.flush(sums_.part(thread.index, number++));
  }
  /// Adds the first `count` sums where no pass has: BinnedSums of stored vectors with a general
  /// preconditioner, else CloseSums as those of passes. Every thread.
  void add_products(const comm_thread::TeamThread& thread, std::size_t count, double r_square,
                    double p_square = 0);
  /// The sums of the reduction that has ended.
  std::array<double, most_products> collective_fit(const comm_thread::TeamThread& thread);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum sums_;
  FittedSums fitted_;  // the same, number by number

 private:
  bool is_added(std::size_t number) const { return number != 1 || !is_identity(); }
  double estimate(std::size_t number, double r_square, double p_square) const;
  template <class Sum>
  void add_products_as(const comm_thread::TeamThread& thread, std::size_t count, double r_square,
                       double p_square);
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction, Solve& solve,
                            State& state, Step& step);
  void collective_advance_all(const comm_thread::TeamThread& thread, State& state, Step& step);
  bool may_begin_again(const State& state, const Step& step, int vain_restarts,
                       SolveReport& report) const;

  std::vector<Product> products_;
};

}  // namespace weft::solver
