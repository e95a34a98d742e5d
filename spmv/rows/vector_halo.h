#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// The halo of `width` vectors behind their own entries, which stand together row by row, and the
/// messages that renew it.
///
///     3 vectors a b c of 2 rows, 1 entry of halo:   a0 b0 c0 | a1 b1 c1 || a2 b2 c2
///
/// A vector that several operators read has one of these for each; their halos lie in the same
/// place, and only that of the last exchange is valid.
/// Lifetime: what `crew` refers to and the entries outlive it. It cannot be moved.
template <class Value>
class VectorHalo final : public Halo {
 public:
  /// `entries`: [(row_count + plan.halo_count) · width]. `thread_rows`: [thread_count + 1], the
  /// rows that each thread packs. `name`: for messages. Every rank makes the same calls, which
  /// take a tag; both ends of every pair must exist before either is used.
  VectorHalo(const comm_thread::Crew& crew, const HaloPlan& plan,
             std::span<const LocalIndex> thread_rows, Value* entries, int width = 1,
             std::string name = comm_thread::HaloExchange<Value>::usual_name)
      : width_(width),
        entries_(entries),
        exchange_(crew.communicator(), plan.neighbours,
                  {entries + std::ptrdiff_t{thread_rows.back()} * width,
                   static_cast<std::size_t>(plan.halo_count * width)},
                  crew.communicator().new_tag(), width, std::move(name)),
        sent_by_thread_(thread_rows.size() - 1) {
    for (std::size_t i = 0; i < plan.send_list.size(); ++i) {
      const LocalIndex row = plan.send_list[i];
      const auto owner = std::upper_bound(thread_rows.begin(), thread_rows.end(), row) - 1;
      sent_by_thread_[static_cast<std::size_t>(owner - thread_rows.begin())].push_back(
          {row, static_cast<LocalIndex>(i)});
    }
  }
  VectorHalo(const VectorHalo&) = delete;
  VectorHalo& operator=(const VectorHalo&) = delete;

  int width() const { return width_; }
  /// Own entries, then the halo.
  Value* entries() { return entries_; }
  const Value* entries() const { return entries_; }
  comm_thread::HaloExchange<Value>& exchange() { return exchange_; }
  const comm_thread::HaloTraffic& traffic() const { return exchange_.traffic(); }

  comm_thread::NeighbourExchange& messages() override { return exchange_.messages(); }
  void pack(int thread) override {
    Value* const buffer = exchange_.send_buffer().data();
    const auto& sent = sent_by_thread_[static_cast<std::size_t>(thread)];
    if (width_ == 1)
      for (const SendEntry& entry : sent) buffer[entry.place] = entries_[entry.row];
    else
      for (const SendEntry& entry : sent)
        std::copy_n(entries_ + std::ptrdiff_t{entry.row} * width_, width_,
                    buffer + std::ptrdiff_t{entry.place} * width_);
  }
  /// Nothing: messages arrive where they are read.
  void unpack(const comm_thread::TeamThread& /*thread*/) override {}

  /// Renews the halo without other work meanwhile. Thread: every thread of the team, after it wrote
  /// its rows; begins and ends with a barrier. Collective.
  void collective_renew(const comm_thread::TeamThread& thread, const comm_thread::Crew& crew) {
    pack(thread.index);
    thread.barrier();
    if (!exchange_.has_neighbours()) return;
    if (thread.is_primary()) exchange_.start_here(crew.comm_thread()).wait();
    thread.barrier();
  }

 private:
  struct SendEntry {
    LocalIndex row;
    LocalIndex place;
  };

  int width_;
  Value* entries_;
  comm_thread::HaloExchange<Value> exchange_;
  std::vector<std::vector<SendEntry>> sent_by_thread_;
};

}  // namespace weft::spmv
