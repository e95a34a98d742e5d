#pragma once

#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/operand.h"

namespace weft::spmv {

/// Vector to which an operator can be applied: own entries, then the halo, and the exchange that
/// fills it.
///
///     | 8 spare | own entries [row_count] | halo [halo_count] | 8 spare |
///
/// The spare entries let kernels load whole registers at either end; their values are never used.
/// Lifetime: `communicator` outlives it. It cannot be moved.
class HaloVector final : public Operand {
 public:
  /// `tag`: the same on all ranks, different for every vector on `communicator`.
  /// `thread_rows`: [thread_count + 1], the rows that each compute thread owns and first touches.
  HaloVector(const comm_thread::Communicator& communicator, const HaloPlan& plan,
             std::span<const LocalIndex> thread_rows, const comm_thread::ComputeTeam& team,
             int tag);
  HaloVector(const HaloVector&) = delete;
  HaloVector& operator=(const HaloVector&) = delete;

  /// Shape: [row_count].
  std::span<double> own() { return {entries_.data() + spare, row_count_}; }
  /// Shape: [halo_count].
  std::span<double> halo() {
    return entries_.span().subspan(spare + row_count_, entries_.size() - row_count_ - 2 * spare);
  }
  /// Own entries, then halo. Shape: [row_count + halo_count], 64-byte aligned.
  const double* data() const { return entries_.data() + spare; }

  double* values() override { return entries_.data() + spare; }
  comm_thread::HaloExchange<double>& exchange() override { return exchange_; }

  /// Copies what neighbours need from the rows of `thread` to the send buffer.
  /// Thread: each of the team for itself, after it wrote its rows.
  void pack(int thread) override;

  /// Nothing: messages arrive where they are read.
  void unpack(const comm_thread::TeamThread& /*thread*/) override {}

 private:
  static constexpr std::size_t spare = 8;
  struct SendEntry {
    LocalIndex row;
    LocalIndex place;
  };

  std::size_t row_count_;
  perfmodel::HugePageBuffer<double> entries_;
  comm_thread::HaloExchange<double> exchange_;
  std::vector<std::vector<SendEntry>> sent_by_thread_;
};

}  // namespace weft::spmv
