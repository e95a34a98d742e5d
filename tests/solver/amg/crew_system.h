#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::tests {

/// A matrix on some ranks and threads.
class CrewSystem {
 public:
  /// Collective.
  CrewSystem(const comm_thread::Communicator& communicator, const std::string& problem,
             int threads = thread_count())
      : CrewSystem(communicator, reference_matrix(spmv::Problem::parse(problem)), threads) {}
  CrewSystem(const comm_thread::Communicator& communicator, const ReferenceMatrix& matrix,
             int threads = thread_count())
      : communicator_(communicator.collective_duplicate()),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = session().thread_level()}),
        operator_(communicator_, comm_thread_, team_,
                  collective_distribute(
                      communicator_, team_, matrix,
                      spmv::RowPartition::by_rows(static_cast<spmv::GlobalIndex>(matrix.size()),
                                                  communicator_.size()))) {}

  spmv::SparseOperator& op() { return operator_; }
  const comm_thread::ComputeTeam& team() const { return team_; }
  std::size_t first() const { return static_cast<std::size_t>(operator_.global_row(0)); }
  std::size_t count() const { return operator_.element_count(); }

  /// Gives every entry another value: change(row, column, value).
  template <class Change>
  void change_values(const Change& change) {
    spmv::SplitMatrix& split = operator_.changeable_matrix();
    const spmv::DistributedMatrix& matrix = split.matrix();
    split.update_values(team_, [&](const comm_thread::TeamThread&, spmv::LocalIndex begin,
                                   spmv::LocalIndex end, std::span<double> values) {
      for (spmv::LocalIndex row = begin; row < end; ++row)
        for (auto k = matrix.rows.row_offsets[static_cast<std::size_t>(row)];
             k < matrix.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
          const auto place = static_cast<std::size_t>(k);
          values[place] = change(matrix.first_row() + row,
                                 matrix.global_column(matrix.rows.columns[place]), values[place]);
        }
    });
  }

  /// This rank's part of a vector.
  std::vector<double> own(const std::vector<double>& whole) const {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first());
    return {begin, begin + static_cast<std::ptrdiff_t>(count())};
  }

 private:
  comm_thread::Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  spmv::SparseOperator operator_;
};

}  // namespace weft::tests
