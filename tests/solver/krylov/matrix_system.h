#pragma once

#include <algorithm>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/partition.h"
#include "spmv/sums/block_dot.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::tests {

using Vector = std::vector<double>;

/// The ranks, threads and communication thread of a test, and a matrix on them.
class MatrixSystem {
 public:
  MatrixSystem(const comm_thread::Communicator& communicator, const ReferenceMatrix& reference,
               int threads = thread_count())
      : communicator_(communicator),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = session().thread_level()}),
        operator_(communicator, comm_thread_, team_,
                  collective_distribute(
                      communicator, team_, reference,
                      spmv::RowPartition::by_rows(std::ssize(reference), communicator.size()))) {}

  const comm_thread::Communicator& communicator() const { return communicator_; }
  comm_thread::CommThread& comm_thread() { return comm_thread_; }
  spmv::SparseOperator& op() { return operator_; }

  /// This rank's part of a whole vector.
  Vector part_of(const Vector& whole) const {
    const auto& matrix = operator_.matrix().matrix();
    return Vector(whole.begin() + matrix.first_row(),
                  whole.begin() + matrix.first_row() + matrix.rows.row_count);
  }

 private:
  const comm_thread::Communicator& communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  spmv::SparseOperator operator_;
};

/// r·r in the one order of weft: row blocks, then an exact sum.
inline double square(const Vector& r) {
  const spmv::GlobalIndex row_count = std::ssize(r);
  const spmv::GlobalIndex block = spmv::RowPartition::block_size(row_count);
  comm_thread::ExactAccumulator sum;
  for (spmv::GlobalIndex row = 0; row < row_count; row += block)
    sum.add(spmv::block_dot(r.data() + row, r.data() + row, std::min(block, row_count - row)));
  return sum.rounded();
}

}  // namespace weft::tests
