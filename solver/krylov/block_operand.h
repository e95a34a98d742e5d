#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/block_product.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/rows/interleave.h"

namespace weft::solver {

/// The columns of an array as one operand, so that a product reads the matrix once for all and one
/// message carries the halos of all.
class BlockOperand {
 public:
  /// `stride`: elements from the begin of one column to that of the next. Collective. Thread: the
  /// main thread, outside the team. Lifetime: `op` outlives it.
  BlockOperand(spmv::SparseOperator& op, int width, std::size_t stride)
      : op_(op),
        stride_(stride),
        block_(op.collective_make_vector(width)),
        rooms_(static_cast<std::size_t>(op.team().thread_count())) {
    for (auto& room : rooms_)
      room = perfmodel::HugePageBuffer<double>(std::size_t{spmv::BlockProduct::piece_rows} *
                                               this->width());
  }

  /// Takes some elements of all columns. Thread: the one that owns them, before a product.
  void take(const double* columns, std::size_t begin, std::int64_t count) {
    std::array<const double*, Preconditioner::most_vectors> from{};
    for (std::size_t v = 0; v < width(); ++v) from[v] = columns + v * stride_ + begin;
    spmv::interleave(std::span(from).first(width()), static_cast<std::size_t>(count),
                     block_->values() + begin * width());
  }

  /// products = A·columns. Calls on_block(first row, count) for each row block of this thread when
  /// its products are there. Collective. Thread: every thread of the team.
  template <class OnBlock>
  void collective_multiply(const comm_thread::TeamThread& thread, spmv::Mode mode, double* products,
                           perfmodel::PhaseTimer& timer, const OnBlock& on_block) {
    const auto on_rows = [&](const comm_thread::TeamThread&, const spmv::BlockRows& rows) {
      std::array<double*, Preconditioner::most_vectors> to{};
      const auto begin = static_cast<std::size_t>(rows.begin);
      for (std::size_t v = 0; v < width(); ++v) to[v] = products + v * stride_ + begin;
      spmv::separate(rows.y, static_cast<std::size_t>(rows.end) - begin,
                     std::span(to).first(width()));
      if (rows.ended) op_.matrix().for_each_completed_block(*rows.ended, on_block);
    };
    op_.apply_block(thread, mode, *block_,
                    {rooms_[static_cast<std::size_t>(thread.index)].data(), true},
                    std::cref(on_rows), timer);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(block_->width()); }

  spmv::SparseOperator& op_;
  std::size_t stride_;
  std::unique_ptr<spmv::HaloVector<double>> block_;
  std::vector<perfmodel::HugePageBuffer<double>> rooms_;  // [threads], for products
};

}  // namespace weft::solver
