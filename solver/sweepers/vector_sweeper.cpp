#include "solver/sweepers/vector_sweeper.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::solver {

using comm_thread::HaloNeighbour;
using comm_thread::Share;
using comm_thread::share_of;
using comm_thread::TeamThread;

VectorSweeper::VectorSweeper(const comm_thread::ComputeTeam& team, const Range& range,
                             spmv::HaloPlan plan, std::span<const spmv::LocalIndex> thread_rows,
                             std::size_t vector_count)
    : team_(team),
      range_(range),
      plan_(std::move(plan)),
      thread_rows_(thread_rows.begin(), thread_rows.end()),
      vectors_(vector_count) {
  const std::size_t size = row_count() + static_cast<std::size_t>(plan_.halo_count) + 2 * spare;
  for (Vector& vector : vectors_) vector = Vector(size);
  recorded_ = Vector(size);
  set_values(0);
  team_.run([this](const TeamThread& thread) { record(thread); });  // touches its pages
}

void VectorSweeper::set_values(double value) {
  team_.run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (Vector& vector : vectors_) {
      double* const values = begin_of(vector);
      std::fill(values + thread_rows_[index], values + thread_rows_[index + 1], value);
      if (thread.is_primary()) std::fill_n(values + row_count(), plan_.halo_count, value);
    }
  });
}

void VectorSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                         std::span<double> out) const {
  const double* const x = values(state);
  const HaloNeighbour& to = plan_.neighbours[neighbour];
  const spmv::LocalIndex* const rows = plan_.send_list.data() + to.send_begin;
  const Share share = share_of(to.send_count, thread.index, thread.count);
  for (std::int64_t i = share.begin; i < share.end; ++i)
    out[static_cast<std::size_t>(i)] = x[rows[i]];
}

void VectorSweeper::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                           std::span<const double> in) {
  const HaloNeighbour& from = plan_.neighbours[neighbour];
  const Share share = share_of(from.receive_count, thread.index, thread.count);
  const auto copy_to = [&](Vector& vector) {
    std::copy(in.data() + share.begin, in.data() + share.end,
              begin_of(vector) + row_count() + from.receive_begin + share.begin);
  };
  if (state == SweepState::recorded) return copy_to(recorded_);
  for (Vector& vector : vectors_) copy_to(vector);
}

void VectorSweeper::record(const TeamThread& thread) {
  const auto index = static_cast<std::size_t>(thread.index);
  std::copy(current() + thread_rows_[index], current() + thread_rows_[index + 1],
            begin_of(recorded_) + thread_rows_[index]);
}

PackedRows VectorSweeper::rows() const {
  std::vector<std::vector<PackedRows::Piece>> pieces;
  for (std::size_t thread = 0; thread + 1 < thread_rows_.size(); ++thread)
    pieces.push_back(
        {{static_cast<std::size_t>(thread_rows_[thread]), range_.first_row + thread_rows_[thread],
          static_cast<std::size_t>(thread_rows_[thread + 1] - thread_rows_[thread])}});
  return {pieces, range_.global_count};
}

void VectorSweeper::save(const TeamThread& thread, const PackedRows& rows, std::size_t vector,
                         double* packed) {
  rows.pack(thread, vector == 0 ? current() : previous(), packed);
}

void VectorSweeper::load(const TeamThread& thread, const PackedRows& rows, std::size_t vector,
                         const double* packed, std::int64_t /*sweep*/) {
  const std::size_t steps = vector == 0 ? 0 : vectors_.size() - 1;
  rows.unpack(thread, packed, begin_of(vectors_[after_current(steps)]));
}

}  // namespace weft::solver
