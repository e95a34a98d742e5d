#include "solver/sweepers/matrix_values.h"

#include <algorithm>

#include "spmv/sums/block_dot.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::HaloNeighbour;
using comm_thread::Share;
using comm_thread::share_of;
using comm_thread::TeamThread;

spmv::RowSet rows_of(SweepPart part) {
  return part == SweepPart::all        ? spmv::RowSet::all
         : part == SweepPart::interior ? spmv::RowSet::interior
                                       : spmv::RowSet::boundary;
}

MatrixValues::MatrixValues(spmv::SparseOperator& op, std::span<const double> b,
                           std::size_t vector_count)
    : operator_(op), b_(b) {
  for (std::size_t i = 0; i < vector_count; ++i) vectors_.push_back(op.collective_make_vector());
  recorded_ = op.collective_make_vector();
}

void MatrixValues::set_all(double value) {
  operator_.team().run([&](const TeamThread& thread) {
    const auto cuts =
        operator_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index), 2);
    for (const auto& vector : vectors_) {
      std::fill(vector->own().data() + cuts[0], vector->own().data() + cuts[1], value);
      if (thread.is_primary()) std::ranges::fill(vector->halo(), value);
    }
  });
}

void MatrixValues::form_residual(const TeamThread& thread, SweepPart part,
                                 ExactAccumulator* residual_square) {
  form_residual_of(current(), thread, part, residual_square);
}

void MatrixValues::form_residual_of(const double* x, const TeamThread& thread, SweepPart part,
                                    ExactAccumulator* residual_square) {
  double* const r = next().data();
  operator_.matrix().multiply_blocks(
      rows_of(part), thread.index, x, r, [&](spmv::LocalIndex row, spmv::LocalIndex count) {
        for (spmv::LocalIndex i = row; i < row + count; ++i)
          r[i] = b_[static_cast<std::size_t>(i)] - r[i];
        if (residual_square) residual_square->add(spmv::block_dot(r + row, r + row, count));
      });
}

void MatrixValues::pack_from(const double* x, const TeamThread& thread, std::size_t neighbour,
                             std::span<double> out) const {
  const spmv::HaloPlan& plan = operator_.halo_plan();
  const HaloNeighbour& to = plan.neighbours[neighbour];
  const spmv::LocalIndex* const rows = plan.send_list.data() + to.send_begin;
  const Share share = share_of(to.send_count, thread.index, thread.count);
  for (std::int64_t i = share.begin; i < share.end; ++i)
    out[static_cast<std::size_t>(i)] = x[rows[i]];
}

void MatrixValues::pack(const TeamThread& thread, std::size_t neighbour,
                        std::span<double> out) const {
  pack_from(current(), thread, neighbour, out);
}

void MatrixValues::unpack(const TeamThread& thread, std::size_t neighbour,
                          std::span<const double> in) {
  const HaloNeighbour& from = operator_.halo_plan().neighbours[neighbour];
  const Share share = share_of(from.receive_count, thread.index, thread.count);
  for (const auto& vector : vectors_)
    std::copy(in.data() + share.begin, in.data() + share.end,
              vector->halo().data() + from.receive_begin + share.begin);
}

void MatrixValues::record(const TeamThread& thread) {
  const auto cuts =
      operator_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index), 2);
  std::copy(current() + cuts[0], current() + cuts[1], recorded_->own().data() + cuts[0]);
}

void MatrixValues::pack_record(const TeamThread& thread, std::size_t neighbour,
                               std::span<double> out) const {
  pack_from(recorded_->data(), thread, neighbour, out);
}

void MatrixValues::add_residual_of_record(const TeamThread& thread, std::span<const double> halo,
                                          ExactAccumulator& residual_square) {
  const Share share = share_of(std::ssize(halo), thread.index, thread.count);
  std::copy(halo.data() + share.begin, halo.data() + share.end,
            recorded_->halo().data() + share.begin);
  thread.barrier();
  form_residual_of(recorded_->data(), thread, SweepPart::all, &residual_square);
}

}  // namespace weft::solver
