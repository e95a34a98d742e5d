#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/order/row_order.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/redistribution.h"

namespace weft::library {

/// Zeros in the layout of an operator, first touched by the threads that will use them. Thread: the
/// main thread, outside the team.
perfmodel::HugePageBuffer<double> make_vector(const spmv::LinearOperator& op);

/// From vectors as a caller has them to vectors of the operator, and back.
///
/// Thread: the main thread, or the primary one of the team while the others wait. Lifetime: what a
/// map is made of outlives it.
class VectorMap {
 public:
  virtual ~VectorMap() = default;

  /// True if both are the same, so that the caller's arrays can be used as they are.
  virtual bool is_identity() const { return false; }
  /// Length of the caller's vectors on this rank.
  virtual std::size_t given_count() const = 0;
  /// The number of the caller's row `given`.
  virtual std::int64_t global_row(std::size_t given) const = 0;

  /// How many rows from `given` on are consecutive.
  virtual std::size_t consecutive_rows(std::size_t given) const { return given_count() - given; }

  /// Shape: given: [given_count]; values: [element_count] of the operator. Collective.
  virtual void collective_to_operator(std::span<const double> given, std::span<double> values) = 0;
  virtual void collective_from_operator(std::span<const double> values,
                                        std::span<double> given) = 0;
};

/// The caller's rows are those of the operator.
class SameRows final : public VectorMap {
 public:
  SameRows(const comm_thread::ComputeTeam& team, std::int64_t first_row, std::size_t row_count)
      : team_(team), first_row_(first_row), row_count_(row_count) {}

  bool is_identity() const override { return true; }
  std::size_t given_count() const override { return row_count_; }
  std::int64_t global_row(std::size_t given) const override {
    return first_row_ + static_cast<std::int64_t>(given);
  }
  void collective_to_operator(std::span<const double> given, std::span<double> values) override;
  void collective_from_operator(std::span<const double> values, std::span<double> given) override;

 private:
  const comm_thread::ComputeTeam& team_;
  std::int64_t first_row_;
  std::size_t row_count_;
};

/// Consecutive rows in both, cut between the ranks at other places: rows near a cut travel.
///
///     10 rows, blocks of 4, 2 ranks     caller:    0 1 2 3 4 | 5 6 7 8 9
///                                       operator:  0 1 2 3 | 4 5 6 7 8 9      row 4 travels
class MovedRows final : public VectorMap {
 public:
  /// Collective. Lifetime: what `crew` refers to outlives it.
  MovedRows(const comm_thread::Crew& crew, const spmv::RowPartition& given,
            const spmv::RowPartition& moved);

  std::size_t given_count() const override { return given_count_; }
  std::int64_t global_row(std::size_t given) const override {
    return first_row_ + static_cast<std::int64_t>(given);
  }
  void collective_to_operator(std::span<const double> given, std::span<double> values) override;
  void collective_from_operator(std::span<const double> values, std::span<double> given) override;

 private:
  std::int64_t first_row_;
  std::size_t given_count_;
  spmv::Redistribution<double> move_;
  // One thread moves the rows, whatever the team does.
  comm_thread::TeamBarrier barrier_{1, comm_thread::WaitPolicy::spin};
  comm_thread::TeamThread alone_{.barrier_of_team = &barrier_};
};

/// Rows in an order of their own.
class OrderedRows final : public VectorMap {
 public:
  OrderedRows(const spmv::RowOrder& order, int rank) : order_(order), rank_(rank) {}

  std::size_t given_count() const override {
    return static_cast<std::size_t>(order_.given().size(rank_));
  }
  std::int64_t global_row(std::size_t given) const override {
    return order_.given().begin(rank_) + static_cast<std::int64_t>(given);
  }
  void collective_to_operator(std::span<const double> given, std::span<double> values) override;
  void collective_from_operator(std::span<const double> values, std::span<double> given) override;

 private:
  const spmv::RowOrder& order_;
  int rank_;
};

/// The own points of a box of a grid, without the ghost points between them.
class GridPoints final : public VectorMap {
 public:
  explicit GridPoints(const spmv::GridOperator& op);

  std::size_t given_count() const override { return given_count_; }
  std::int64_t global_row(std::size_t given) const override;
  std::size_t consecutive_rows(std::size_t given) const override;
  void collective_to_operator(std::span<const double> given, std::span<double> values) override;
  void collective_from_operator(std::span<const double> values, std::span<double> given) override;

 private:
  struct Line {
    std::size_t given;
    spmv::Segment segment;
  };
  const Line& line_of(std::size_t given) const;

  const spmv::GridOperator& op_;
  std::vector<Line> lines_;  // ascending
  std::size_t given_count_ = 0;
};

}  // namespace weft::library
