#include "spmv/files/matrix_market_pipeline.h"

#include <string_view>

#include "comm_thread/waiting/team_barrier.h"
#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

constexpr std::size_t bytes_of_slot = 32 << 10;  // of text, but for the end of its last line
constexpr std::size_t most_slots_of_block = TextLines::block_bytes / bytes_of_slot + 1;
constexpr std::size_t most_bytes_given = 4 << 20;  // of text, in a round

}  // namespace

using comm_thread::TeamThread;

bool MatrixMarketPipeline::can_help(const MatrixMarketFile& file,
                                    const comm_thread::ComputeTeam& team) {
  const bool is_dealt = file.is_compressed() && file.communicator().size() > 1;
  return !is_dealt && file.header().format != MatrixMarketHeader::Format::array &&
         team.thread_count() > 1;
}

MatrixMarketPipeline::MatrixMarketPipeline(MatrixMarketFile& file,
                                           const MatrixMarketEntries& entries,
                                           MatrixMarketEntries::Values values)
    : entries_(entries), values_(values), has_read_all_(!file.has_own_lines()) {
  if (file.has_own_lines()) lines_.emplace(file.own_lines());
}

bool MatrixMarketPipeline::has_room() const {
  return !has_read_all_.load(std::memory_order_acquire) &&
         filled_.load(std::memory_order_acquire) + most_slots_of_block <=
             given_.load(std::memory_order_acquire) + slot_count;
}

void MatrixMarketPipeline::read() {
  std::size_t filled = filled_.load(std::memory_order_relaxed);
  bool is_end = true;
  try {
    std::string_view block = lines_->next();
    is_end = block.empty();
    while (!block.empty()) {
      const std::string_view lines = take_lines(block, bytes_of_slot);
      slot(filled++).text.assign(lines.begin(), lines.end());
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  filled_.store(filled, std::memory_order_release);
  if (is_end || error_) has_read_all_.store(true, std::memory_order_release);
}

void MatrixMarketPipeline::parse(Slot& slot) const {
  slot.entries.clear();
  try {
    slot.count = entries_.parse({slot.text.data(), slot.text.size()}, values_,
                                [&](const MatrixEntry& entry) { slot.entries.push_back(entry); });
  } catch (...) {
    slot.error = std::current_exception();
  }
  slot.is_parsed.store(true, std::memory_order_release);
}

/// Does one piece of work; false if there is none.
bool MatrixMarketPipeline::work() {
  if (has_room() && !is_reading_.exchange(true, std::memory_order_acquire)) {
    if (has_room()) read();
    is_reading_.store(false, std::memory_order_release);
    return true;
  }
  std::size_t number = claimed_.load(std::memory_order_relaxed);
  while (number < filled_.load(std::memory_order_acquire)) {
    if (!claimed_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) continue;
    parse(slot(number));
    return true;
  }
  return false;
}

void MatrixMarketPipeline::help() {
  std::uint64_t idle = 0;
  while (!is_closed_.load(std::memory_order_acquire))
    if (work())
      idle = 0;
    else
      comm_thread::relax(comm_thread::WaitPolicy::yield, idle++);
}

void MatrixMarketPipeline::run(const comm_thread::ComputeTeam& team,
                               const std::function<void()>& pass) {
  team.run([&](const TeamThread& thread) {
    if (!thread.is_primary()) return help();
    try {
      pass();
    } catch (...) {
      is_closed_.store(true, std::memory_order_release);
      throw;
    }
    is_closed_.store(true, std::memory_order_release);
  });
}

/// The next slot in the order of the file; null behind the last one.
MatrixMarketPipeline::Slot* MatrixMarketPipeline::next() {
  const std::size_t given = given_.load(std::memory_order_relaxed);
  for (std::uint64_t idle = 0;;) {
    const bool has_read_all = has_read_all_.load(std::memory_order_acquire);
    const bool is_filled = given < filled_.load(std::memory_order_acquire);
    if (is_filled && slot(given).is_parsed.load(std::memory_order_acquire)) return &slot(given);
    if (!is_filled && has_read_all) return nullptr;
    if (work())
      idle = 0;
    else
      comm_thread::relax(comm_thread::WaitPolicy::yield, idle++);
  }
}

bool MatrixMarketPipeline::round(const std::function<void(std::span<const MatrixEntry>)>& take,
                                 const std::function<bool()>& is_full, std::int64_t& count) {
  for (std::size_t taken = 0; taken < most_bytes_given && !is_full();) {
    Slot* const slot = next();
    if (!slot && error_) std::rethrow_exception(error_);
    if (!slot) return false;
    if (slot->error) std::rethrow_exception(slot->error);
    if (slot->count < 0) throw TextFault("");
    take(slot->entries);
    count += slot->count;
    taken += slot->text.size();
    slot->is_parsed.store(false, std::memory_order_relaxed);
    given_.store(given_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  return true;
}

}  // namespace weft::spmv
