#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sweeper.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// A sweeper whose values are the rows of a vector: current ones with their halo, room for the new
/// ones, and a recorded copy. What is derived from it sweeps and forms residuals.
///
///     vectors  | previous | current | next |      finish_sweep: next becomes current, nothing is
///     halo     |    h     |    h    |  h   |      copied; that is why each has the whole halo
class VectorSweeper : public Sweeper, public KeptState {
 public:
  /// Starts again from a constant x, on all ranks. Thread: the main thread, outside the team.
  void set_values(double value);

  /// The current values. Shape: [row_count].
  std::span<const double> solution() const { return {current(), row_count()}; }

  const comm_thread::ComputeTeam& team() const final { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const final { return plan_.neighbours; }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const final;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) final;
  void finish_sweep() final { current_ = (current_ + 1) % vectors_.size(); }
  void record(const comm_thread::TeamThread& thread) final;

  KeptState* kept_state() final { return this; }
  PackedRows rows() const final;
  std::size_t vector_count() const final { return vectors_.size() - 1; }
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            double* packed) final;
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            const double* packed, std::int64_t sweep) final;

 protected:
  /// The rows of a rank among those of all.
  struct Range {
    spmv::GlobalIndex first_row = 0;
    spmv::GlobalIndex global_count = 0;
  };

  /// All values are 0. `thread_rows`: [thread_count + 1], the rows of each thread. `vector_count`:
  /// 3 where the values before the current ones are needed, else 2. `team` outlives it. Thread: the
  /// main thread, outside the team.
  VectorSweeper(const comm_thread::ComputeTeam& team, const Range& range, spmv::HaloPlan plan,
                std::span<const spmv::LocalIndex> thread_rows, std::size_t vector_count);

  std::size_t row_count() const { return static_cast<std::size_t>(thread_rows_.back()); }
  /// Shape: [row_count + halo_count], 64-byte aligned.
  const double* values(SweepState state) const {
    return begin_of(state == SweepState::current ? vectors_[current_] : recorded_);
  }
  const double* current() const { return values(SweepState::current); }
  /// The values before the current ones; those of `next` where they are not kept.
  const double* previous() const { return begin_of(vectors_[after_current(vectors_.size() - 1)]); }
  double* next() { return begin_of(vectors_[after_current(1)]); }

 private:
  using Vector = perfmodel::HugePageBuffer<double>;
  /// Unused elements at either end, so that kernels may load whole registers there.
  static constexpr std::size_t spare = 8;

  static double* begin_of(Vector& vector) { return vector.data() + spare; }
  static const double* begin_of(const Vector& vector) { return vector.data() + spare; }
  std::size_t after_current(std::size_t steps) const {
    return (current_ + steps) % vectors_.size();
  }

  const comm_thread::ComputeTeam& team_;
  Range range_;
  spmv::HaloPlan plan_;
  std::vector<spmv::LocalIndex> thread_rows_;
  std::vector<Vector> vectors_;
  std::size_t current_ = 0;
  Vector recorded_;
};

}  // namespace weft::solver
