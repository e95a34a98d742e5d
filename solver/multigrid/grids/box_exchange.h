#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/rows/operand.h"

namespace weft::solver {

/// Brings the values of a box and of points around it from the ranks that own them: a halo
/// exchange, or, where the boxes of sender and receiver differ, the move of a grid to fewer ranks
/// or back. A halo may be deeper than the neighbours' boxes.
/// `Value`: float or double. Lifetime: the communicator and both arrays outlive it.
template <class Value>
class BoxExchange final : public spmv::Halo {
 public:
  struct Side {
    const LevelCuts& cuts;
    int depth = 0;  // points around a box that its rank needs; of the receiver
    const spmv::GridLayout& layout;
    Value* values;
  };

  /// An array that gets those of the values that are at its points.
  struct Target {
    spmv::GridBox points;
    const spmv::GridLayout& layout;
    Value* values;
  };

  /// `grid`: all points. The arrays may be the same.
  BoxExchange(const comm_thread::Communicator& communicator, const spmv::GridBox& grid,
              const Side& from, const Side& to, int thread_count);
  /// The same to any number of arrays, from a halo of `depth` points.
  BoxExchange(const comm_thread::Communicator& communicator, const spmv::GridBox& grid,
              const Side& from, const LevelCuts& to_cuts, int depth,
              std::span<const Target> targets, int thread_count);

  comm_thread::NeighbourExchange& messages() override { return exchange_->messages(); }
  void pack(int thread) override;
  void unpack(const comm_thread::TeamThread& thread) override;
  /// Both, for values that stay on this rank but change arrays.
  void copy_own(const comm_thread::TeamThread& thread);
  /// All of it, without other work meanwhile. Thread: every thread of the team, after a barrier;
  /// ends with one. Collective.
  void collective_exchange(const comm_thread::TeamThread& thread,
                           comm_thread::CommThread& comm_thread) {
    pack(thread.index);
    copy_own(thread);
    thread.barrier();
    if (thread.is_primary() && !messages().is_empty()) messages().post(comm_thread).wait();
    thread.barrier();
    unpack(thread);
  }
  /// Values are those of another array of the same layout from now on. Thread: the primary one,
  /// before a barrier.
  void read_from(const Value* values) { from_ = values; }

  const comm_thread::HaloTraffic& traffic() const { return exchange_->traffic(); }
  std::size_t buffer_bytes() const {
    return exchange_->buffer_bytes() + sent_rows_.size() * sizeof(SentRow) +
           (received_rows_.size() + own_rows_.size()) * sizeof(Row);
  }

 private:
  /// A row of a box that is sent: a place in the array, and one in the buffer.
  struct SentRow {
    std::size_t element;
    std::size_t place;
    std::size_t count;
  };
  /// A row of a box that comes to an array, from the buffer or from the sender's array.
  struct Row {
    Value* to;
    std::size_t place;
    std::size_t count;
  };

  void plan_sent(const std::map<int, spmv::GridBox>& boxes, const spmv::GridLayout& layout,
                 std::map<int, comm_thread::HaloNeighbour>& neighbours);

  int thread_count_;
  const Value* from_;
  std::vector<SentRow> sent_rows_;
  std::vector<Row> received_rows_;
  std::vector<Row> own_rows_;
  std::optional<comm_thread::HaloExchange<Value>> exchange_;
};

}  // namespace weft::solver
