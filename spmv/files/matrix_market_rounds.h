#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/text_lines.h"

namespace weft::spmv {

/// Distributes the data lines of a file to all ranks, in rounds of bounded size.
///
/// A plain file: each rank reads its own share. A compressed one: rank 0 decompresses the blocks of
/// the next round while the other ranks process those of this one, and distributes them in turn;
/// of few ranks it processes some itself, and if it is the only rank, all.
/// Lifetime: the file outlives it.
class MatrixMarketRounds {
 public:
  /// Treatment of a compressed file: rank 0 distributes its lines, or processes all of them itself.
  enum class Dealing { no, yes };

  MatrixMarketRounds(MatrixMarketFile& file, Dealing dealing);

  /// Gives lines to `take` until that returns false (it has enough for a round) or a round is
  /// full. Returns whether this rank has more to give.
  /// Collective. Throws TextFault, on this rank only, always after having communicated.
  bool collective_round(const std::function<bool(std::string_view)>& take);

 private:
  bool take_own_lines(std::size_t most_bytes, const std::function<bool(std::string_view)>& take);
  std::string_view next_own_lines();
  void prepare_blocks();

  MatrixMarketFile& file_;
  bool is_dealt_;
  std::optional<TextLines> lines_;
  std::string_view pending_;
  std::map<int, comm_thread::Bytes> prepared_;  // rank 0 of a dealt file
  int next_rank_ = 1;
};

}  // namespace weft::spmv
