#include "library/system/operator_products.h"

#include <algorithm>
#include <cstddef>

#include "perfmodel/phase_times.h"
#include "spmv/modes/mode.h"

namespace weft::library {

using comm_thread::TeamThread;
using spmv::BlockRows;

void OperatorProducts::multiply(std::span<const double> x, std::span<double> y) {
  multiply_column(0, 1, x, y);
}

void OperatorProducts::multiply_column(int column, int count, std::span<const double> x,
                                       std::span<double> y) {
  if (!operand_) {
    operand_ = op_.collective_make_operand();
    product_ = perfmodel::HugePageBuffer<double>(op_.element_count());
  }
  const auto stride = static_cast<std::size_t>(count);
  const auto first = static_cast<std::size_t>(column);
  perfmodel::PhaseTimer timer;
  op_.team().run([&](const TeamThread& thread) {
    double* const values = operand_->values();
    op_.for_each_element(thread.index, [&](std::size_t i) { values[i] = x[i * stride + first]; });
    op_.apply(thread, spmv::Mode::task, *operand_, product_.data(), timer, {});
    thread.barrier();  // others have written rows of this thread's segments
    op_.for_each_element(thread.index, [&](std::size_t i) { y[i * stride + first] = product_[i]; });
  });
}

void OperatorProducts::multiply_block(std::span<const double> x, std::span<double> y, int count) {
  auto* const matrix = dynamic_cast<spmv::SparseOperator*>(&op_);
  for (int first = 0; first < count;) {
    const int left = count - first;
    const int width = !matrix || left == 1 ? 1 : left >= 8 ? 8 : left >= 4 ? 4 : 2;
    if (width == 1)
      multiply_column(first, count, x, y);
    else
      multiply_columns(*matrix, {first, width, count}, x, y);
    first += width;
  }
}

namespace {

/// Copies `width` values of each row between arrays whose rows have so many.
void copy_rows(const double* from, std::ptrdiff_t from_width, double* to, std::ptrdiff_t to_width,
               std::ptrdiff_t width, std::ptrdiff_t row_count) {
  if (from_width == width && to_width == width) {
    std::copy_n(from, row_count * width, to);
    return;
  }
  for (std::ptrdiff_t row = 0; row < row_count; ++row)
    std::copy_n(from + row * from_width, width, to + row * to_width);
}

}  // namespace

void OperatorProducts::multiply_columns(spmv::SparseOperator& matrix, const Columns& columns,
                                        std::span<const double> x, std::span<double> y) {
  const std::ptrdiff_t width = columns.width;
  const std::ptrdiff_t stride = columns.count;
  const double* const from = x.data() + columns.first;
  double* const to = y.data() + columns.first;
  const bool is_direct = width == stride;
  if (is_direct && matrix.communicator().size() == 1) {  // nothing to send: no copy
    matrix.team().run([&](const TeamThread& thread) {
      matrix.apply_block_alone(thread, columns.width, from, {to, false});
    });
    return;
  }
  Block& block = blocks_[columns.width];
  if (!block.vectors) {
    block.vectors = matrix.collective_make_vector(columns.width);
    for (int thread = 0; thread < matrix.team().thread_count(); ++thread)
      block.rooms.emplace_back(std::size_t{spmv::BlockProduct::piece_rows} *
                               static_cast<std::size_t>(columns.width));
  }
  spmv::OnBlockRows on_rows;
  if (!is_direct)
    on_rows = [&](const TeamThread&, const BlockRows& rows) {
      copy_rows(rows.y, width, to + rows.begin * stride, stride, width, rows.end - rows.begin);
    };
  perfmodel::PhaseTimer timer;
  matrix.team().run([&](const TeamThread& thread) {
    double* const values = block.vectors->values();
    for (const spmv::Segment& segment : matrix.segments(thread.index)) {
      const auto begin = static_cast<std::ptrdiff_t>(segment.begin);
      copy_rows(from + begin * stride, stride, values + begin * width, width, width, segment.count);
    }
    double* const room = block.rooms[static_cast<std::size_t>(thread.index)].data();
    matrix.apply_block(thread, spmv::Mode::task, *block.vectors,
                       is_direct ? spmv::BlockResults{to, false} : spmv::BlockResults{room, true},
                       on_rows, timer);
  });
}

}  // namespace weft::library
