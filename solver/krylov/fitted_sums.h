#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/simd.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/sums/binned_sum.h"
#include "spmv/sums/fitted_bound.h"
#include "spmv/sums/largest_magnitude.h"

namespace weft::solver {

/// Sums over all rows that are reduced together, made again where their bounds were far off.
///
/// A pass makes sum number i with `next`; after its reduction `collective_fit` looks at the
/// results, which all ranks have alike. A result that does not fit (spmv::FittedBound) costs two
/// passes and two reductions: one for its largest addend, one for the sum. One that fits costs
/// comparisons. Sum number 0 is r·r with its last value as estimate. The estimates of the others
/// rest on it: where it exceeds its bound, all are made again. Lifetime: `op` and `total` outlive
/// it.
class FittedSums {
 public:
  static constexpr int most_sums = 5;

  /// `total`: of one sum; not in use by others while a sum is made again.
  FittedSums(spmv::LinearOperator& op, comm_thread::ReproducibleSum& total)
      : operator_(op),
        total_(total),
        threads_(static_cast<std::size_t>(op.team().thread_count())) {}

  /// Forgets what was learnt. Thread: every thread of the team, for itself; so are all others.
  void reset(const comm_thread::TeamThread& thread) {
    for (spmv::FittedBound& bound : mine(thread).bounds) bound.reset();
  }

  /// The bound of the next sum number `sum`, a `Sum`; `estimate`: 0 if nothing is to be added.
  template <class Sum>
  double next(const comm_thread::TeamThread& thread, int sum, double estimate) {
    return bound(thread, sum).next(estimate, Sum::digits);
  }
  spmv::FittedBound& bound(const comm_thread::TeamThread& thread, int sum) {
    return mine(thread).bounds[static_cast<std::size_t>(sum)];
  }

  /// Adds what a checkpoint takes of the first `count` sums; the estimate of r·r learns nothing.
  void append_carried(const comm_thread::TeamThread& thread, int count,
                      std::vector<double*>& scalars) {
    for (int sum = 1; sum < count; ++sum) {
      scalars.push_back(&bound(thread, sum).excess());
      scalars.push_back(&bound(thread, sum).cancelled());
    }
  }

  /// Makes those of `values` again that do not fit, sums of term(number, element) over all
  /// elements, which no thread writes meanwhile. True if r·r exceeded its bound. Collective.
  template <class Term>
  bool collective_fit(const comm_thread::TeamThread& thread, std::span<double> values,
                      const Term& term) {
    const bool is_exceeded = bound(thread, 0).is_exceeded(values[0]);
    for (std::size_t sum = 0; sum < values.size(); ++sum)
      values[sum] = collective_fit_one(
          thread, static_cast<int>(sum), values[sum], [&](std::size_t i) { return term(sum, i); },
          is_exceeded);
    return is_exceeded;
  }

  /// The same of one sum of term(element), or of an object whose at<Value>(element) gives eight at
  /// once; returns its value. `is_doubtful`: it is made again even
  /// if it fits.
  template <class Term>
  double collective_fit_one(const comm_thread::TeamThread& thread, int sum, double value,
                            const Term& term, bool is_doubtful = false) {
    spmv::FittedBound& own = bound(thread, sum);
    if (own.fits(value) && !(is_doubtful && own.bound() != 0 && std::isfinite(value))) return value;
    const double largest = collective_largest(thread, term);
    if (largest == 0) return 0;
    spmv::BinnedSum again(
        spmv::FittedBound::bound_of(largest, static_cast<double>(operator_.global_row_count())));
    for_each_segment(thread, [&](std::size_t begin, std::size_t end) {
      spmv::add_terms(again, static_cast<std::ptrdiff_t>(end - begin),
                      [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
                        return terms<Value>(term, begin + static_cast<std::size_t>(i));
                      });
    });
    again.flush(total_.part(thread.index));
    total_.collective_reduce(thread);
    own.learn(total_.result(), largest);
    return total_.result();
  }

 private:
  struct alignas(64) Mine {
    std::array<spmv::FittedBound, most_sums> bounds{spmv::FittedBound(true)};
    double largest = 0;
  };
  Mine& mine(const comm_thread::TeamThread& thread) {
    return threads_[static_cast<std::size_t>(thread.index)];
  }

  /// The terms of eight elements, or of one: term(element) each, or term.at<Value>(element).
  template <class Value, class Term>
  [[gnu::always_inline]] static Value terms(const Term& term, std::size_t first) {
    if constexpr (requires { term.template at<Value>(first); })
      return term.template at<Value>(first);
    else if constexpr (std::is_same_v<Value, double>)
      return term(first);
    else
      return Value::of([&](int lane) __attribute__((always_inline)) {
        return term(first + static_cast<std::size_t>(lane));
      });
  }

  template <class Work>
  void for_each_segment(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const spmv::Segment& segment : operator_.segments(thread.index))
      work(segment.begin, segment.begin + static_cast<std::size_t>(segment.count));
  }

  /// The magnitude of the largest term on all ranks. Every thread.
  template <class Term>
  double collective_largest(const comm_thread::TeamThread& thread, const Term& term) {
    double largest = 0;
    for_each_segment(thread, [&](std::size_t begin, std::size_t end) {
      largest = spmv::largest_magnitude(
          static_cast<std::ptrdiff_t>(end - begin),
          [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
            return terms<Value>(term, begin + static_cast<std::size_t>(i));
          },
          largest);
    });
    mine(thread).largest = largest;
    thread.barrier();
    if (thread.is_primary()) {
      for (const Mine& other : threads_) largest = std::max(largest, other.largest);
      largest_ = operator_.communicator().max(largest);
    }
    thread.barrier();
    return largest_;
  }

  spmv::LinearOperator& operator_;
  comm_thread::ReproducibleSum& total_;
  std::vector<Mine> threads_;
  double largest_ = 0;  // written by the primary thread between two barriers of the team
};

}  // namespace weft::solver
