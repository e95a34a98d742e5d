#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/krylov/fitted_sums.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/precondition/preconditioner.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_block.h"

namespace weft::solver {

/// Textbook conjugate gradients for 2, 4 or 8 right-hand sides at once.
///
/// The recurrences are independent: each solution has the iterations and the bits that
/// ConjugateGradient finds for it alone. Products read the matrix once for all vectors, one message
/// carries the halos of all, and one reduction their sums. A vector that has converged waits for
/// the others.
/// Functions are collective. Thread: the main thread, outside the team.
class BlockCg {
 public:
  struct Options {
    spmv::Mode mode = spmv::Mode::task;
    Preconditioner* preconditioner = nullptr;  // null: the identity; outlives the method
    StopCriterion stop;
    /// Called by the primary thread of every rank, as KrylovMethod::Options::on_iteration.
    std::function<void(int vector, std::int64_t iteration, double residual)> on_iteration{};
  };

  /// Allocates. `width`: 2, 4 or 8. Lifetime: `op` outlives it.
  BlockCg(spmv::SparseOperator& op, Options options, int width);

  int width() const { return width_; }

  /// When solves for vector number `vector` end from now on.
  void set_stop(int vector, const StopCriterion& stop) {
    stops_[static_cast<std::size_t>(vector)] = stop;
  }

  /// Solves A·x = b for each b, from x = 0, or from `guesses` where they are not empty; the reports
  /// in the same order. All have the times of the whole. Shape: right_hand_sides, guesses: [width]
  /// of [element_count]. Throws comm_thread::MpiError.
  std::vector<SolveReport> solve(std::span<const std::span<const double>> right_hand_sides,
                                 std::span<const std::span<const double>> guesses = {});

  /// The last solution number `vector`. Shape: [element_count].
  std::span<const double> solution(int vector) const {
    return vectors_[static_cast<std::size_t>(vector)].x.span();
  }

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  /// Arrays of one vector.
  struct Vector {
    Array x, r, p, q;
    Array z;  // with a general preconditioner
  };
  /// Numbers of one vector; every thread has the same.
  struct State {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;
    double p = 0;  // upper bound of ‖p‖
    double alpha = 0;
    double beta = 0;
    double bound = 0;  // of r·r
    double first_norm = -1;
    double last_r_dot_z = 0;
    bool is_running = false;
    bool is_over = false;  // verified
    SolveReport report;
  };
  /// What the threads of a run share.
  struct Run {
    std::span<const std::span<const double>> b;
    std::span<const std::span<const double>> guesses;
  };
  using States = std::vector<State>;  // [width]

  Preconditioner* general() const { return diagonal_ ? nullptr : options_.preconditioner; }
  bool is_identity() const { return options_.preconditioner == nullptr; }
  double preconditioner_norm() const { return is_identity() ? 1 : options_.preconditioner->norm(); }
  const double* inverse_diagonal(std::size_t begin) const;

  void collective_solve(const comm_thread::TeamThread& thread, const Run& run, States& states);
  void collective_start_at_guess(const comm_thread::TeamThread& thread, const Run& run,
                                 States& states);
  void begin(const comm_thread::TeamThread& thread, const Run& run, std::size_t v,
             const double* product);
  void collective_iterate(const comm_thread::TeamThread& thread, States& states);
  void collective_advance(const comm_thread::TeamThread& thread, States& states);
  void collective_update_residuals(const comm_thread::TeamThread& thread, States& states);
  void update_one_residual(const comm_thread::TeamThread& thread, std::size_t v,
                           const State& state);
  void start_one_residual(const comm_thread::TeamThread& thread, std::size_t v, const State& state);
  void flush(const comm_thread::TeamThread& thread, std::size_t v, ResidualSums& sums);
  void collective_find_norms(const comm_thread::TeamThread& thread, States& states);
  ResidualSums next_sums(const comm_thread::TeamThread& thread, std::size_t v, const State& state);
  void collective_precondition(const comm_thread::TeamThread& thread, std::size_t v,
                               const State& state);
  void finish(const comm_thread::TeamThread& thread, std::size_t v, double alpha);
  void note(const comm_thread::TeamThread& thread, int vector, State& state);
  bool collective_verify(const comm_thread::TeamThread& thread, const Run& run, States& states);
  void collective_multiply_solutions(const comm_thread::TeamThread& thread);
  void multiply_block(const comm_thread::TeamThread& thread, const spmv::OnBlockRows& on_rows,
                      perfmodel::PhaseTimer& timer);
  std::vector<double> collective_squares(const comm_thread::TeamThread& thread, const Run& run,
                                         bool has_products);
  void interleave(std::size_t begin, std::int64_t count, Array Vector::* array);
  void take(const spmv::BlockRows& rows);

  template <class Work>
  void for_each_segment(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const spmv::Segment& segment : op_.segments(thread.index))
      work(segment.begin, segment.count);
  }

  spmv::SparseOperator& op_;
  Options options_;
  std::vector<StopCriterion> stops_;  // [width]
  int width_;
  const DiagonalPreconditioner* diagonal_ = nullptr;
  double norm_;  // ‖A‖∞
  comm_thread::ReproducibleSum curvature_;  // [width] p·A·p
  comm_thread::ReproducibleSum residual_;  // [2·width] r·r and r·z
  comm_thread::ReproducibleSum squares_;  // [width], of what is not iterated
  std::vector<FittedSums> fitted_;  // [width] r·r and r·z
  std::unique_ptr<spmv::HaloBlock> block_;
  std::vector<Vector> vectors_;  // [width]
  std::vector<Array> rooms_;  // [thread_count], for products
  std::vector<double> largest_;  // [thread_count · width] magnitudes
  std::vector<double> bounds_;  // [width]
  perfmodel::PhaseTimer timer_;
};

}  // namespace weft::solver
