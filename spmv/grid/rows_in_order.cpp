#include "spmv/grid/rows_in_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "spmv/rows/row_delivery.h"

namespace weft::spmv {
namespace {

constexpr std::int64_t rows_per_round = 1 << 16;

/// All segments of this rank, in pieces that fit into a round.
std::vector<Segment> pieces_of(const LinearOperator& op) {
  std::vector<Segment> pieces;
  for (int thread = 0; thread < op.team().thread_count(); ++thread)
    for (Segment rest : op.segments(thread))
      while (rest.count > 0) {
        const std::int64_t count = std::min(rest.count, rows_per_round);
        pieces.push_back({rest.begin, count});
        rest = {rest.begin + static_cast<std::size_t>(count), rest.count - count};
      }
  return pieces;
}

}  // namespace

std::vector<double> collective_rows_in_order(const comm_thread::Communicator& communicator,
                                             const LinearOperator& op,
                                             std::span<const double> vector,
                                             const RowPartition& partition) {
  const GlobalIndex first_row = partition.begin(communicator.rank());
  std::vector<double> own(static_cast<std::size_t>(partition.size(communicator.rank())));
  const auto put = [&](GlobalIndex row, double value) {
    own[static_cast<std::size_t>(row - first_row)] = value;
  };
  const std::vector<Segment> pieces = pieces_of(op);
  std::vector<GlobalIndex> rows;
  std::vector<double> values;
  for (std::size_t next = 0;
       communicator.max(std::ssize(pieces) - static_cast<std::int64_t>(next)) > 0;) {
    rows.clear();
    values.clear();
    for (; next < pieces.size() && std::ssize(rows) < rows_per_round; ++next) {
      const Segment& piece = pieces[next];
      const auto count = static_cast<std::size_t>(piece.count);
      for (std::size_t i = piece.begin; i < piece.begin + count; ++i) {
        rows.push_back(op.global_row(i));
        values.push_back(vector[i]);
      }
    }
    collective_deliver<double>(communicator, partition, rows, values, put);
  }
  return own;
}

}  // namespace weft::spmv
