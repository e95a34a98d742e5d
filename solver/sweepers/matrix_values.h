#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// What the subdomains of a sparse matrix have in common: current values of x with their halo, room
/// for the new ones, a recorded copy, and b.
///
///     vectors  | previous | current | next |      finish_sweep: next becomes current, nothing is
///     halo     |    h     |    h    |  h   |      copied; that is why each has the whole halo
///
/// Products are written to `next`, the only vector whose values nobody needs: to the own part of it
/// by whoever sweeps, and by `add_residual` and `add_residual_of_record`, which therefore may not
/// come between a sweep and its finish_sweep.
/// Thread: as in Sweeper.
class MatrixValues {
 public:
  /// All values are 0. `vector_count`: 3 where the values before the current ones are needed, else
  /// 2. `op` and `b` outlive it. Shape: b: [row_count]. Collective. Thread: the main thread,
  /// outside the team.
  MatrixValues(spmv::SparseOperator& op, std::span<const double> b, std::size_t vector_count);

  const spmv::SparseOperator& op() const { return operator_; }
  std::span<const double> b() const { return b_; }

  /// Shape: [row_count + halo_count].
  const double* current() const { return vectors_[current_]->data(); }
  /// The values before the current ones; those of `next` where they are not kept.
  const double* previous() const { return at(vectors_.size() - 1).data(); }
  std::span<double> next() { return at(1).own(); }
  /// Shape: [row_count].
  std::span<const double> solution() const { return vectors_[current_]->own(); }

  /// Current and previous values, and the halo. Thread: the main thread, outside the team.
  void set_all(double value);

  /// next = r = b − A·x on this thread's rows of a part; r·r of every row block that this completes
  /// is added to `residual_square`, if given.
  void form_residual(const comm_thread::TeamThread& thread, SweepPart part,
                     comm_thread::ExactAccumulator* residual_square);

  // As in Sweeper.
  std::span<const comm_thread::HaloNeighbour> neighbours() const {
    return operator_.halo_plan().neighbours;
  }
  void pack(const comm_thread::TeamThread& thread, std::size_t neighbour,
            std::span<double> out) const;
  void unpack(const comm_thread::TeamThread& thread, std::size_t neighbour,
              std::span<const double> in);
  void finish_sweep() { current_ = (current_ + 1) % vectors_.size(); }
  void add_residual(const comm_thread::TeamThread& thread,
                    comm_thread::ExactAccumulator& residual_square) {
    form_residual(thread, SweepPart::all, &residual_square);
  }
  void record(const comm_thread::TeamThread& thread);
  void pack_record(const comm_thread::TeamThread& thread, std::size_t neighbour,
                   std::span<double> out) const;
  void add_residual_of_record(const comm_thread::TeamThread& thread, std::span<const double> halo,
                              comm_thread::ExactAccumulator& residual_square);

 private:
  spmv::HaloVector& at(std::size_t step) const {
    return *vectors_[(current_ + step) % vectors_.size()];
  }
  void pack_from(const double* x, const comm_thread::TeamThread& thread, std::size_t neighbour,
                 std::span<double> out) const;
  void form_residual_of(const double* x, const comm_thread::TeamThread& thread, SweepPart part,
                        comm_thread::ExactAccumulator* residual_square);

  spmv::SparseOperator& operator_;
  std::span<const double> b_;
  std::vector<std::unique_ptr<spmv::HaloVector>> vectors_;
  std::size_t current_ = 0;
  std::unique_ptr<spmv::HaloVector> recorded_;
};

/// The rows that a part of a sweep makes.
spmv::RowSet rows_of(SweepPart part);

}  // namespace weft::solver
