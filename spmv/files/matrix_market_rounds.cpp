#include "spmv/files/matrix_market_rounds.h"

#include <algorithm>
#include <utility>

namespace weft::spmv {
namespace {

constexpr std::size_t round_bytes = 4 << 20;  // own lines, at most about
constexpr std::size_t piece_of_round = 4 << 10;  // own lines between two questions
constexpr std::size_t dealt_bytes = 1 << 20;  // to one rank in a round
constexpr int most_dealt_ranks = 4;  // in a round

/// What rank 0 takes of a round itself, so that it is busy as long as the `others`: of the time in
/// which one of these parses its share, it needs a third to decompress that.
std::size_t bytes_of_rank_0(int others) {
  return others == 1 ? dealt_bytes / 2 : others == 2 ? dealt_bytes / 4 : 0;
}

}  // namespace

MatrixMarketRounds::MatrixMarketRounds(MatrixMarketFile& file, Dealing dealing)
    : file_(file),
      is_dealt_(dealing == Dealing::yes && file.is_compressed() && file.communicator().size() > 1) {
}

bool MatrixMarketRounds::collective_round(const std::function<bool(std::string_view)>& take) {
  if (!is_dealt_) return file_.has_own_lines() && take_own_lines(round_bytes, take);
  const auto dealt =
      comm_thread::collective_sparse_exchange(file_.communicator(), std::exchange(prepared_, {}));
  if (file_.has_own_lines()) {
    prepare_blocks();
    if (prepared_.empty()) return false;
    take_own_lines(bytes_of_rank_0(file_.communicator().size() - 1), take);
    return true;
  }
  for (const auto& [rank, block] : dealt)
    take({reinterpret_cast<const char*>(block.data()), block.size()});
  return false;
}

std::string_view MatrixMarketRounds::next_own_lines() {
  if (!lines_) lines_.emplace(file_.own_lines());
  return lines_->next();
}

bool MatrixMarketRounds::take_own_lines(std::size_t most_bytes,
                                        const std::function<bool(std::string_view)>& take) {
  for (std::size_t taken = 0; taken < most_bytes;) {
    if (pending_.empty()) pending_ = next_own_lines();
    if (pending_.empty()) return false;
    const std::string_view piece = take_lines(pending_, piece_of_round);
    taken += piece.size();
    if (!take(piece)) break;
  }
  return true;
}

void MatrixMarketRounds::prepare_blocks() {
  const int others = file_.communicator().size() - 1;
  for (int i = 0; i < std::min(others, most_dealt_ranks); ++i) {
    comm_thread::Bytes block;
    while (block.size() < dealt_bytes) {
      if (pending_.empty()) pending_ = next_own_lines();
      if (pending_.empty()) break;
      const std::string_view lines = take_lines(pending_, dealt_bytes);
      const auto* begin = reinterpret_cast<const std::byte*>(lines.data());
      block.insert(block.end(), begin, begin + lines.size());
    }
    if (block.empty()) return;
    prepared_.emplace(next_rank_, std::move(block));
    next_rank_ = next_rank_ % others + 1;
  }
}

}  // namespace weft::spmv
