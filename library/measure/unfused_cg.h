#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/job/job.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// Textbook conjugate gradients, for comparison: one loop for every line of the algorithm,
/// vectorised by the compiler, with vector mode and blocking sums of plain doubles.
///
/// Bytes a row and iteration: product 24, p·q 16, x + αp 24, r − αq 24, r·r 8, r + βp 24: 120, and
/// a matrix.
class UnfusedCg {
 public:
  /// Allocates. Collective. Thread: the main thread. Both outlive it.
  UnfusedCg(const comm_thread::Job& job, spmv::LinearOperator& op);

  /// Makes `iterations` iterations from x = 0, without a convergence test; returns the seconds per
  /// iteration of the slowest rank.
  /// Collective. Thread: the main thread. Shape: b: [element_count].
  double collective_seconds_per_iteration(std::span<const double> b, std::int64_t iterations);

  /// ‖r‖/‖b‖ of the recurrence at the end of the last call.
  double relative_residual() const { return relative_residual_; }

 private:
  double collective_dot(const comm_thread::TeamThread& thread, const double* a, const double* b);

  const comm_thread::Job& job_;
  spmv::LinearOperator& op_;
  std::unique_ptr<spmv::Operand> p_;
  perfmodel::HugePageBuffer<double> x_, r_, q_;
  struct alignas(64) Part {
    double value = 0;
  };
  std::vector<Part> parts_;  // of a dot product, of every thread
  double sum_ = 0;
  double relative_residual_ = 0;
};

}  // namespace weft::library
