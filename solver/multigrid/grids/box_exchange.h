#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "spmv/grid/box.h"
#include "spmv/grid/layout.h"
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

  /// `grid`: all points. `tag`: as NeighbourExchange. The arrays may be the same.
  BoxExchange(const comm_thread::Communicator& communicator, const spmv::GridBox& grid,
              const Side& from, const Side& to, int thread_count, int tag);

  comm_thread::NeighbourExchange& messages() override { return *exchange_; }
  void pack(int thread) override;
  void unpack(const comm_thread::TeamThread& thread) override;
  /// Both, for values that stay on this rank but change arrays.
  void copy_own(const comm_thread::TeamThread& thread);

  std::int64_t sent_bytes() const {
    return static_cast<std::int64_t>(sent_.size() * sizeof(Value));
  }
  int sent_messages() const { return sent_messages_; }
  std::size_t buffer_bytes() const {
    return (sent_.size() + received_.size()) * sizeof(Value) +
           (sent_rows_.size() + received_rows_.size() + own_rows_.size()) * sizeof(Row);
  }

 private:
  /// A row of a box: a place in an array, and one in a buffer or in the other array.
  struct Row {
    std::size_t element;
    std::size_t place;
    std::size_t count;
  };

  int thread_count_;
  int sent_messages_ = 0;
  const Value* from_;
  Value* to_;
  std::vector<Value> sent_;
  std::vector<Value> received_;
  std::vector<Row> sent_rows_;
  std::vector<Row> received_rows_;
  std::vector<Row> own_rows_;
  std::optional<comm_thread::NeighbourExchange> exchange_;
};

}  // namespace weft::solver
