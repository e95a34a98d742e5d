#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/operand.h"

namespace weft::spmv {

/// Consecutive entries of a vector that a kernel walks over in one go.
struct Segment {
  std::size_t begin;  // element
  std::int64_t count;
};

/// A sum over all rows, of which every thread of every rank adds a part.
struct RowSum {
  comm_thread::ExactAccumulator* part = nullptr;  // this thread's, or none
  /// At least Σ|terms|/2²⁵ and not much more than that, the same on all ranks: from it the sum
  /// knows to which bits it has to be exact.
  double bound = 0;
};

class LocalRows;

/// A distributed linear operator A as Krylov methods see it: vectors as arrays, the segments of
/// them that each thread owns, and y = A·x in any mode.
///
/// All vectors have the shape of the operator, [element_count]; the segments of all threads are the
/// rows of this rank, each once. What lies between segments belongs to the operator.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual const comm_thread::Communicator& communicator() const = 0;
  virtual comm_thread::CommThread& comm_thread() const = 0;
  virtual const comm_thread::ComputeTeam& team() const = 0;
  comm_thread::Crew crew() const { return {communicator(), comm_thread(), team()}; }

  virtual std::size_t element_count() const = 0;
  virtual std::span<const Segment> segments(int thread) const = 0;

  /// Calls work(first element, count) for every segment of a thread.
  template <class Work>
  void for_each_segment(int thread, const Work& work) const {
    for (const Segment& segment : segments(thread)) work(segment.begin, segment.count);
  }
  /// Calls work(element) for every element of a thread.
  template <class Work>
  void for_each_element(int thread, const Work& work) const {
    for (const Segment& segment : segments(thread))
      for (std::size_t i = segment.begin, end = i + static_cast<std::size_t>(segment.count);
           i < end; ++i)
        work(i);
  }
  /// Calls work(element) for every element of this rank.
  template <class Work>
  void for_each_element(const Work& work) const {
    for (int thread = 0; thread < team().thread_count(); ++thread) for_each_element(thread, work);
  }

  /// The rows of this rank, without communication.
  virtual const LocalRows& local_rows() const = 0;

  /// Rows of all ranks.
  virtual std::int64_t global_row_count() const = 0;

  /// ‖A‖∞ or more, the same on all ranks. Collective. Thread: the main thread, outside the team.
  virtual double collective_norm() const = 0;

  /// True if `apply` sums x·y well whatever RowSum::bound is.
  virtual bool sums_without_bound() const { return false; }

  /// Says how many products are to come, so that forms of storage are tried where this pays for
  /// itself; 0: none is tried until the next call; none: nobody knows, which is so without a call.
  /// Returns how many products on this rank it takes until the form is settled; 0 where it is.
  /// Thread: the main thread, outside the team.
  virtual int expect_products(std::optional<std::int64_t> /*count*/) { return 0; }

  /// Says this inside a run of the team, for the products of one solve; it does not end what `0`
  /// says. Thread: every thread of the team, all with the same `count` and between the same
  /// products.
  virtual void expect_products_here(const comm_thread::TeamThread& /*thread*/,
                                    std::int64_t /*count*/) {}

  /// A vector that A can be applied to. Collective. Thread: the main thread, outside the team.
  virtual std::unique_ptr<Operand> collective_make_operand() = 0;

  /// y = A·x; adds Σ x_i·y_i to `x_dot_y`. Shape: y: [element_count], 64-byte aligned.
  /// Thread: every thread of the team, after it wrote its segments of x. Collective.
  /// Throws comm_thread::MpiError.
  virtual void apply(const comm_thread::TeamThread& thread, Mode mode, Operand& x, double* y,
                     perfmodel::PhaseTimer& timer, RowSum x_dot_y) const = 0;

  /// The main diagonal; 0 where a row has none. Shape: [element_count].
  virtual void copy_diagonal(std::span<double> diagonal) const = 0;

  /// The number, from 0, of the row at element `element` of a vector.
  virtual std::int64_t global_row(std::size_t element) const = 0;
};

}  // namespace weft::spmv
