#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"

namespace weft::tests {

/// A grid problem with a right-hand side that is neither smooth nor symmetric.
struct GridProblem {
  GridProblem(comm_thread::Communicator ranks, int threads, const std::string& word)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = session().thread_level()}),
        op(communicator, comm_thread, team, spmv::GridStencil::of(spmv::Problem::parse(word))),
        b(op.element_count()) {
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          b[segment.begin + i] = value_of(op.global_row(segment.begin + i));
  }

  static double value_of(std::int64_t row) {
    return std::sin(1.0 + 37.0 * static_cast<double>(row % 1013));
  }
  /// ‖b‖, by rows in their order.
  double b_norm() const {
    double sum = 0;
    for (std::int64_t row = 0; row < op.global_row_count(); ++row)
      sum += value_of(row) * value_of(row);
    return std::sqrt(sum);
  }

  comm_thread::Communicator communicator;
  comm_thread::ComputeTeam team;
  comm_thread::CommThread comm_thread;
  spmv::StencilOperator op;
  std::vector<double> b;
};

}  // namespace weft::tests
