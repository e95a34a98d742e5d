#pragma once

#include <cstddef>
#include <span>

#include "perfmodel/huge_page_buffer.h"
#include "solver/sweep/sweeper.h"
#include "solver/sweepers/matrix_values.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Weighted Jacobi, with or without momentum, on the rows of a sparse matrix:
///
///     new x = x + ω D⁻¹ (b − A·x) + β (x − previous x)
///
/// β = 0: (weighted) Jacobi. β ≠ 0: the second-order Richardson iteration, see
/// `richardson_parameters`. Values and residuals are the same, to the last bit, for any number of
/// ranks and threads, as long as the halos are.
///
/// One pass a sweep; bytes per row besides the matrix: read b, ω D⁻¹ and x, write new x (16 with
/// write-allocate), 40 in all; with momentum the previous x too, 48. The product is written to the
/// place of the new x and read back from cache, block by block; where a block has boundary rows and
/// a sweep comes in parts, from memory, after the boundary part.
/// Source: Bethune et al. 2012, section 2, equation 1.
class MatrixSweeper final : public Sweeper {
 public:
  struct Options {
    double weight = 1;  // ω
    double momentum = 0;  // β
  };

  /// Starts from x = 0. `op` and `b` outlive it. Shape: b: [row_count]. Collective. Thread: the
  /// main thread, outside the team. Throws comm_thread::InputError, on every rank, where the
  /// diagonal has a zero.
  MatrixSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options);

  /// Starts again from a constant x, on all ranks. Thread: the main thread, outside the team.
  void set_values(double value) { values_.set_all(value); }

  /// The current values. Shape: [row_count].
  std::span<const double> solution() const { return values_.solution(); }

  const comm_thread::ComputeTeam& team() const override { return values_.op().team(); }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return values_.neighbours();
  }
  void pack(const comm_thread::TeamThread& thread, std::size_t neighbour,
            std::span<double> out) const override {
    values_.pack(thread, neighbour, out);
  }
  void unpack(const comm_thread::TeamThread& thread, std::size_t neighbour,
              std::span<const double> in) override {
    values_.unpack(thread, neighbour, in);
  }
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { values_.finish_sweep(); }
  /// Not between a sweep and its finish_sweep: it overwrites the new values.
  void add_residual(const comm_thread::TeamThread& thread,
                    comm_thread::ExactAccumulator& residual_square) override {
    values_.add_residual(thread, residual_square);
  }
  void advance(const comm_thread::TeamThread& thread, int count) override;
  void record(const comm_thread::TeamThread& thread) override { values_.record(thread); }
  void pack_record(const comm_thread::TeamThread& thread, std::size_t neighbour,
                   std::span<double> out) const override {
    values_.pack_record(thread, neighbour, out);
  }
  /// Not between a sweep and its finish_sweep: it overwrites the new values.
  void add_residual_of_record(const comm_thread::TeamThread& thread, std::span<const double> halo,
                              comm_thread::ExactAccumulator& residual_square) override {
    values_.add_residual_of_record(thread, halo, residual_square);
  }

 private:
  Options options_;
  MatrixValues values_;
  perfmodel::HugePageBuffer<double> scale_;  // ω / a_ii
};

}  // namespace weft::solver
