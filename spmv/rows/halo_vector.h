#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/operand.h"
#include "spmv/rows/vector_halo.h"

namespace weft::spmv {

/// Vector to which an operator can be applied, or several that stand together row by row: own
/// entries, then the halo, and the exchange that fills it.
///
///     | 8·width spare | own entries [row_count · width] | halo [halo_count · width] | 8·width
///     spare |
///
/// The spare entries let kernels load whole registers at either end; their values are never used.
/// Lifetime: what `crew` refers to outlives it. It cannot be moved.
template <class Value>
class HaloVector final : public OperandOf<Value> {
 public:
  /// `thread_rows`: [thread_count + 1], the rows that each compute thread owns and first touches.
  /// `width`: number of vectors. Every rank makes the same calls.
  HaloVector(const comm_thread::Crew& crew, const HaloPlan& plan,
             std::span<const LocalIndex> thread_rows, int width = 1)
      : own_count_(static_cast<std::size_t>(thread_rows.back()) * static_cast<std::size_t>(width)),
        spare_(64 / sizeof(Value) * static_cast<std::size_t>(width)),
        entries_(own_count_ + static_cast<std::size_t>(plan.halo_count * width) + 2 * spare_),
        halo_(crew, plan, thread_rows, entries_.data() + spare_, width) {
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      std::fill(values() + std::ptrdiff_t{thread_rows[index]} * width,
                values() + std::ptrdiff_t{thread_rows[index + 1]} * width, Value{});
    });
  }

  int width() const { return halo_.width(); }
  /// Shape: [row_count · width].
  std::span<Value> own() { return entries_.span().subspan(spare_, own_count_); }
  /// Shape: [halo_count · width].
  std::span<Value> halo() {
    return entries_.span().subspan(spare_ + own_count_, entries_.size() - own_count_ - 2 * spare_);
  }
  /// Own entries, then halo. Shape: [(row_count + halo_count) · width], 64-byte aligned.
  const Value* data() const { return entries_.data() + spare_; }

  Value* values() override { return entries_.data() + spare_; }
  comm_thread::HaloExchange<Value>& exchange() override { return halo_.exchange(); }

  /// Copies what neighbours need from the rows of `thread` to the send buffer.
  /// Thread: each of the team for itself, after it wrote its rows.
  void pack(int thread) override { halo_.pack(thread); }

  /// Nothing: messages arrive where they are read.
  void unpack(const comm_thread::TeamThread& /*thread*/) override {}

 private:
  std::size_t own_count_;
  std::size_t spare_;
  perfmodel::HugePageBuffer<Value> entries_;
  VectorHalo<Value> halo_;
};

}  // namespace weft::spmv
