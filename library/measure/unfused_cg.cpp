#include "library/measure/unfused_cg.h"

#include <cmath>

#include "perfmodel/phase_times.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {
namespace {

/// Calls work(element) for every element of a thread.
template <class Work>
void for_each_in_lanes(const spmv::LinearOperator& op, int thread, const Work& work) {
  for (const spmv::Segment& segment : op.segments(thread)) {
    const std::size_t begin = segment.begin;
#pragma omp simd
    for (std::int64_t i = 0; i < segment.count; ++i) work(begin + static_cast<std::size_t>(i));
  }
}

}  // namespace

using comm_thread::TeamThread;

UnfusedCg::UnfusedCg(const comm_thread::Job& job, spmv::LinearOperator& op)
    : job_(job),
      op_(op),
      p_(op.collective_make_operand()),
      x_(op.element_count()),
      r_(op.element_count()),
      q_(op.element_count()),
      parts_(static_cast<std::size_t>(op.team().thread_count())) {}

double UnfusedCg::collective_dot(const TeamThread& thread, const double* a, const double* b) {
  double part = 0;
  for (const spmv::Segment& segment : op_.segments(thread.index)) {
    const double* const u = a + segment.begin;
    const double* const v = b + segment.begin;
#pragma omp simd reduction(+ : part)
    for (std::int64_t i = 0; i < segment.count; ++i) part += u[i] * v[i];
  }
  parts_[static_cast<std::size_t>(thread.index)].value = part;
  thread.barrier();
  if (thread.is_primary()) {
    sum_ = 0;
    for (const Part& each : parts_) sum_ += each.value;
    sum_ = job_.world().sum(sum_);
  }
  thread.barrier();
  return sum_;
}

double UnfusedCg::collective_seconds_per_iteration(std::span<const double> b,
                                                   std::int64_t iterations) {
  double seconds = 0;
  perfmodel::PhaseTimer timer;
  job_.world().barrier();
  op_.team().run([&](const TeamThread& thread) {
    double* const x = x_.data();
    double* const r = r_.data();
    double* const q = q_.data();
    double* const p = p_->values();
    const auto for_each = [&](const auto& work) {
      for_each_in_lanes(op_, thread.index, work);
      thread.barrier();
    };
    for_each([&](std::size_t i) {
      x[i] = 0;
      r[i] = p[i] = b[i];
    });
    const double first = collective_dot(thread, r, r);
    double square = first;
    const perfmodel::Stopwatch watch;
    for (std::int64_t k = 0; k < iterations; ++k) {
      op_.apply(thread, spmv::Mode::vector, *p_, q, timer, {});
      thread.barrier();
      const double alpha = square / collective_dot(thread, p, q);
      for_each([&](std::size_t i) { x[i] += alpha * p[i]; });
      for_each([&](std::size_t i) { r[i] -= alpha * q[i]; });
      const double next = collective_dot(thread, r, r);
      const double beta = next / square;
      square = next;
      for_each([&](std::size_t i) { p[i] = r[i] + beta * p[i]; });
    }
    if (thread.is_primary()) {
      seconds = watch.seconds() / static_cast<double>(iterations);
      relative_residual_ = std::sqrt(square / first);
    }
  });
  return job_.world().max(seconds);
}

}  // namespace weft::library
