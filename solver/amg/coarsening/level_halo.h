#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// The halo of a vector of any type behind its own entries, and the messages that renew it.
///
///     | own entries [row_count] | halo [plan.halo_count] |
///
/// A vector that several operators read has one of these for each; their halos lie in the same
/// place, and only that of the last exchange is valid.
/// Lifetime: `crew` and the entries outlive it. It cannot be moved.
template <class Value>
class LevelHalo final : public spmv::Halo {
 public:
  /// `thread_rows`: [thread_count + 1], the rows that each thread packs. Not collective by itself,
  /// but both ends of every pair must exist before either is used.
  LevelHalo(const comm_thread::Crew& crew, const spmv::HaloPlan& plan,
            std::span<const spmv::LocalIndex> thread_rows, Value* entries)
      : entries_(entries), buffer_(plan.send_list.size()), sent_(thread_rows.size() - 1) {
    for (std::size_t i = 0; i < plan.send_list.size(); ++i) {
      const auto owner =
          std::upper_bound(thread_rows.begin(), thread_rows.end(), plan.send_list[i]) - 1;
      sent_[static_cast<std::size_t>(owner - thread_rows.begin())].push_back(
          {plan.send_list[i], static_cast<spmv::LocalIndex>(i)});
    }
    std::vector<comm_thread::ExchangeNeighbour> parts;
    Value* const halo = entries + thread_rows.back();
    for (const comm_thread::HaloNeighbour& neighbour : plan.neighbours) {
      parts.push_back(
          {neighbour.rank,
           std::as_bytes(
               std::span(buffer_).subspan(static_cast<std::size_t>(neighbour.send_begin),
                                          static_cast<std::size_t>(neighbour.send_count))),
           std::as_writable_bytes(std::span(halo + neighbour.receive_begin,
                                            static_cast<std::size_t>(neighbour.receive_count)))});
      message_count_ += neighbour.send_count > 0;
      longest_message_bytes_ =
          std::max({longest_message_bytes_, parts.back().send.size(), parts.back().receive.size()});
    }
    exchange_.emplace(crew.communicator(), "halo exchange of a level", parts,
                      crew.communicator().new_tag());
  }
  LevelHalo(const LevelHalo&) = delete;
  LevelHalo& operator=(const LevelHalo&) = delete;

  /// Own entries, then the halo.
  const Value* entries() const { return entries_; }
  int message_count() const { return message_count_; }
  std::int64_t sent_bytes() const { return std::ssize(buffer_) * std::int64_t{sizeof(Value)}; }

  /// True if MPI libraries send all messages at once, so that nobody need move them along.
  bool has_short_messages() const {
    constexpr std::size_t short_bytes = 8192;
    return longest_message_bytes_ <= short_bytes;
  }

  comm_thread::NeighbourExchange& messages() override { return *exchange_; }
  void pack(int thread) override {
    for (const SendEntry& entry : sent_[static_cast<std::size_t>(thread)])
      buffer_[static_cast<std::size_t>(entry.place)] = entries_[entry.row];
  }
  /// Nothing: messages arrive where they are read.
  void unpack(const comm_thread::TeamThread& /*thread*/) override {}

  /// Renews the halo without other work meanwhile. Thread: every thread of the team, after it wrote
  /// its rows; begins and ends with a barrier. Collective.
  void collective_renew(const comm_thread::TeamThread& thread, const comm_thread::Crew& crew) {
    pack(thread.index);
    thread.barrier();
    if (exchange_->is_empty()) return;
    if (thread.is_primary()) exchange_->start_here(crew.comm_thread()).wait();
    thread.barrier();
  }

 private:
  struct SendEntry {
    spmv::LocalIndex row;
    spmv::LocalIndex place;
  };

  Value* entries_;
  std::vector<Value> buffer_;
  std::vector<std::vector<SendEntry>> sent_;  // by thread
  int message_count_ = 0;
  std::size_t longest_message_bytes_ = 0;
  std::optional<comm_thread::NeighbourExchange> exchange_;  // once its buffers no longer move
};

}  // namespace weft::solver::amg
