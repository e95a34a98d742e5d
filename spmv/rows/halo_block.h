#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// Several vectors to which an operator can be applied at once: the own entries of all of them, row
/// by row, then their halo, and the one exchange that fills it.
///
///     3 vectors a b c of 2 rows, 1 entry of halo:   a0 b0 c0 | a1 b1 c1 || a2 b2 c2
///
/// Lifetime: `communicator` outlives it. It cannot be moved.
class HaloBlock final : public Halo {
 public:
  /// `width`: number of vectors. `tag`, `thread_rows`: as of HaloVector.
  HaloBlock(const comm_thread::Communicator& communicator, const HaloPlan& plan,
            std::span<const LocalIndex> thread_rows, const comm_thread::ComputeTeam& team,
            int width, int tag);
  HaloBlock(const HaloBlock&) = delete;
  HaloBlock& operator=(const HaloBlock&) = delete;

  int width() const { return width_; }

  /// Entries of all vectors. Shape: [(row_count + halo_count) · width], 64-byte aligned.
  double* values() { return entries_.data(); }
  const double* values() const { return entries_.data(); }

  comm_thread::NeighbourExchange& messages() override { return exchange_.messages(); }
  void pack(int thread) override;
  /// Nothing: messages arrive where they are read.
  void unpack(const comm_thread::TeamThread& /*thread*/) override {}

 private:
  struct SendEntry {
    LocalIndex row;
    LocalIndex place;
  };

  int width_;
  perfmodel::HugePageBuffer<double> entries_;
  comm_thread::HaloExchange<double> exchange_;
  std::vector<std::vector<SendEntry>> sent_by_thread_;
};

}  // namespace weft::spmv
