#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/text_lines.h"

namespace weft::spmv {

/// This rank's lines of a file, read and parsed ahead by all threads of its team, and given to the
/// primary one in their order.
///
///     slots     given │ parsed, or in the hands of a thread │ text │ empty
///                   given_                              claimed_  filled_
///
/// A thread does what is next: it reads a block of lines into empty slots, or inflates it, one
/// thread at a time; or it parses a slot. The primary thread does so where it has nothing to take.
/// Nobody waits for a thread that others keep from running, but for what that has in its hands: 18
/// ms for each of 110 joins, at a load of 13 on two cores, were a third of the time of a file of 55
/// MB.
///
/// Memory ordering: a slot's text is written by the thread that has set `is_reading_`, before it
/// raises `filled_` (release); who claims the slot has read `filled_` (acquire). Its entries are
/// written before `is_parsed` is set (release) and read after it (acquire). It is filled again only
/// after `given_` has passed it (release), which the reader has read (acquire).
/// Lifetime: what it is made of outlives it.
class MatrixMarketPipeline {
 public:
  /// True if there is something to divide: entries, which this rank reads itself, and threads.
  static bool can_help(const MatrixMarketFile& file, const comm_thread::ComputeTeam& team);

  MatrixMarketPipeline(MatrixMarketFile& file, const MatrixMarketEntries& entries,
                       MatrixMarketEntries::Values values);

  /// Calls pass() on the primary thread of `team` while the other threads help it.
  void run(const comm_thread::ComputeTeam& team, const std::function<void()>& pass);

  /// Gives entries to `take` until `is_full` or a round is full, within `run`. Adds their lines to
  /// `count`. Returns whether there are more. Throws TextFault. Thread: the primary one.
  bool round(const std::function<void(std::span<const MatrixEntry>)>& take,
             const std::function<bool()>& is_full, std::int64_t& count);

 private:
  /// Lines that one thread parses, and what it finds.
  struct Slot {
    std::vector<char> text;
    std::vector<MatrixEntry> entries;
    std::int64_t count = 0;  // of lines of data; negative: a fault
    std::exception_ptr error;
    std::atomic<bool> is_parsed = false;
  };
  static constexpr std::size_t slot_count = 40;

  Slot& slot(std::size_t number) { return slots_[number % slot_count]; }
  bool has_room() const;
  void read();
  void parse(Slot& slot) const;
  bool work();
  void help();
  Slot* next();

  const MatrixMarketEntries& entries_;
  MatrixMarketEntries::Values values_;
  std::optional<TextLines> lines_;
  std::array<Slot, slot_count> slots_;
  std::atomic<std::size_t> filled_ = 0;
  std::atomic<std::size_t> claimed_ = 0;
  std::atomic<std::size_t> given_ = 0;
  std::atomic<bool> is_reading_ = false;
  std::atomic<bool> has_read_all_ = false;
  std::exception_ptr error_;  // of reading; set before `has_read_all_`
  std::atomic<bool> is_closed_ = false;
};

}  // namespace weft::spmv
