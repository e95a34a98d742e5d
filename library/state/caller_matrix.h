#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// A matrix made of rows in arrays of a caller, which are dealt by row blocks.
/// Lifetime: `communicator` and `team` outlive it.
class CallerMatrix {
 public:
  virtual ~CallerMatrix() = default;
  CallerMatrix(const CallerMatrix&) = delete;
  CallerMatrix& operator=(const CallerMatrix&) = delete;

  /// Which rows are whose before and after.
  const spmv::RowPartition& given() const { return *given_; }
  const spmv::RowPartition& moved() const { return *moved_; }
  bool moves() const { return moves_; }

  /// The matrix, once.
  spmv::DistributedMatrix take_matrix() { return std::move(*matrix_); }

  /// Why nobody should solve with the matrix: "found entries … only; expected …" where it has
  /// entries on one side of the diagonal, nothing is said about that, and no values before were on
  /// both sides. Else empty. The same on every rank.
  virtual std::string half() const { return {}; }
  /// What was left out when the matrix was made, in a sentence; empty: nothing.
  const std::string& remark() const { return remark_; }

 protected:
  CallerMatrix(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team)
      : communicator_(communicator), team_(team) {}

  /// Deals the rows of all ranks, of which this one gives so many. Collective.
  void collective_deal_rows(std::int64_t row_count);
  /// Throws comm_thread::InputError: "rows of rank 1: TEXT".
  [[noreturn]] void fault(const std::string& text) const;

  const comm_thread::Communicator& communicator_;
  const comm_thread::ComputeTeam& team_;
  std::unique_ptr<spmv::RowPartition> given_;
  std::unique_ptr<spmv::RowPartition> moved_;
  bool moves_ = false;  // the same on all ranks
  std::unique_ptr<spmv::DistributedMatrix> matrix_;
  std::string remark_;
};

}  // namespace weft::library
