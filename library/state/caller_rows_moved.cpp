// Rows of a caller that move to other ranks, and where their entries went.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "library/state/caller_rows.h"
#include "spmv/matrix/assembly.h"

namespace weft::library {
namespace {

using comm_thread::Bytes;
using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Appends `count` values to a message.
template <class Value>
void append(Bytes& message, const Value* values, std::size_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(values);
  message.insert(message.end(), begin, begin + count * sizeof(Value));
}

/// Takes `count` values from `message`, from `begin` on, which it advances.
template <class Value>
std::vector<Value> take(const Bytes& message, std::size_t& begin, std::size_t count) {
  std::vector<Value> values(count);
  if (count > 0) std::memcpy(values.data(), message.data() + begin, count * sizeof(Value));
  begin += count * sizeof(Value);
  return values;
}

/// The rows from `row` on, without their values, as a message. `first`: the number of that row.
Bytes message_of(const Rows& rows, GlobalIndex first, std::size_t row, std::size_t row_count) {
  const auto begin = static_cast<std::size_t>(rows.offsets[row]);
  const std::size_t count = static_cast<std::size_t>(rows.offsets[row + row_count]) - begin;
  Bytes message;
  const std::array<std::int64_t, 3> head{first, static_cast<std::int64_t>(row_count),
                                         static_cast<std::int64_t>(count)};
  append(message, head.data(), head.size());
  append(message, rows.offsets.data() + row, row_count + 1);
  append(message, rows.columns.data() + begin, count);
  return message;
}

/// True if the `columns` of a row, as given, are those of row `row` of `matrix`, in that order.
bool is_row(const DistributedMatrix& matrix, std::size_t row,
            std::span<const GlobalIndex> columns) {
  const auto begin = static_cast<std::size_t>(matrix.rows.row_offsets[row]);
  const auto end = static_cast<std::size_t>(matrix.rows.row_offsets[row + 1]);
  if (end - begin != columns.size()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (matrix.global_column(matrix.rows.columns[begin + i]) != columns[i]) return false;
  return true;
}

}  // namespace

/// The rows of a message. Their offsets and columns are its own.
CallerRows::Piece CallerRows::received_piece(const Bytes& message, std::span<const double> values) {
  std::size_t at = 0;
  const auto head = take<std::int64_t>(message, at, 3);
  Piece piece;
  piece.first_row = head[0];
  piece.own_offsets = take<std::int64_t>(message, at, static_cast<std::size_t>(head[1]) + 1);
  piece.own_columns = take<std::int64_t>(message, at, static_cast<std::size_t>(head[2]));
  piece.values = values;
  return piece;
}

std::vector<CallerRows::Piece> CallerRows::collective_deal(
    const Rows& rows, std::map<int, std::vector<double>>& values_from) {
  const int rank = communicator_.rank();
  std::map<int, Bytes> messages;
  std::vector<Piece> pieces;
  std::optional<Piece> kept;
  for (int other = 0; other < moved_->rank_count(); ++other) {
    const GlobalIndex first = std::max(given_->begin(rank), moved_->begin(other));
    const GlobalIndex last = std::min(given_->end(rank), moved_->end(other));
    if (first >= last) continue;
    const auto row = static_cast<std::size_t>(first - given_->begin(rank));
    const auto row_count = static_cast<std::size_t>(last - first);
    const auto begin = static_cast<std::size_t>(rows.offsets[row]);
    const auto end = static_cast<std::size_t>(rows.offsets[row + row_count]);
    parcels_[other] = {begin, end};
    if (other == rank)
      kept = {.first_row = first,
              .own_offsets = {},
              .own_columns = {},
              .offsets = rows.offsets.subspan(row, row_count + 1),
              .columns = rows.columns.subspan(begin, end - begin),
              .values = rows.values.subspan(begin, end - begin)};
    else
      messages[other] = message_of(rows, first, row, row_count);
  }
  values_from = collective_send_values(rows.values);
  for (const auto& [source, message] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(messages))) {
    if (source > rank && kept) pieces.push_back(*std::exchange(kept, std::nullopt));
    pieces.push_back(received_piece(message, values_from[source]));
  }
  if (kept) pieces.push_back(std::move(*kept));
  for (Piece& piece : pieces)
    if (!piece.own_offsets.empty()) {
      piece.offsets = piece.own_offsets;
      piece.columns = piece.own_columns;
    }
  return pieces;
}

std::map<int, std::vector<double>> CallerRows::collective_send_values(
    std::span<const double> values) const {
  comm_thread::Lists<double> lists;
  for (const auto& [other, parcel] : parcels_)
    if (other != communicator_.rank())
      lists[other].assign(values.begin() + static_cast<std::ptrdiff_t>(parcel.begin),
                          values.begin() + static_cast<std::ptrdiff_t>(parcel.end));
  return comm_thread::collective_sparse_exchange(communicator_, std::move(lists));
}

DistributedMatrix CallerRows::collective_assemble(const Rows& rows) {
  std::map<int, std::vector<double>> values_from;
  const std::vector<Piece> pieces = collective_deal(rows, values_from);
  spmv::MatrixAssembly assembly(*moved_, communicator_.rank(), team_.thread_count());
  // Each thread takes the rows of its share, from whichever pieces they are.
  const auto for_own_entries = [&](const TeamThread& thread, const auto& visit) {
    const auto share =
        comm_thread::share_of(moved_->size(communicator_.rank()), thread.index, thread.count);
    const std::int64_t begin = assembly.first_row() + share.begin;
    const std::int64_t end = assembly.first_row() + share.end;
    for (const Piece& piece : pieces) {
      const std::int64_t piece_end = piece.first_row + std::ssize(piece.offsets) - 1;
      for (auto row = std::max(begin, piece.first_row); row < std::min(end, piece_end); ++row) {
        const auto local = static_cast<std::size_t>(row - piece.first_row);
        for (auto k = piece.offsets[local]; k < piece.offsets[local + 1]; ++k) {
          const auto entry = static_cast<std::size_t>(k - piece.offsets.front());
          visit(row, piece.columns[entry], piece.values[entry]);
        }
      }
    }
  };
  team_.run([&](const TeamThread& thread) {
    for_own_entries(thread, [&](GlobalIndex row, GlobalIndex column, double /*value*/) {
      assembly.count(row, column, thread.index);
    });
  });
  comm_thread::collective_attempt(communicator_, [&] { assembly.allocate(team_); });
  team_.run([&](const TeamThread& thread) {
    for_own_entries(thread, [&](GlobalIndex row, GlobalIndex column, double value) {
      assembly.insert(row, column, value);
    });
  });
  auto matrix = std::move(assembly).collective_finish(communicator_, team_);
  remember_places(matrix, pieces);
  return matrix;
}

void CallerRows::remember_places(const DistributedMatrix& matrix,
                                 const std::vector<Piece>& pieces) {
  std::size_t moved_row = 0;
  bool is_in_order = true;
  for (const Piece& piece : pieces)
    for (std::size_t i = 0; i + 1 < piece.offsets.size() && is_in_order; ++i, ++moved_row)
      is_in_order = is_row(
          matrix, moved_row,
          piece.columns.subspan(static_cast<std::size_t>(piece.offsets[i] - piece.offsets.front()),
                                static_cast<std::size_t>(piece.offsets[i + 1] - piece.offsets[i])));
  if (is_in_order) return;
  entry_begin_.assign(1, 0);
  for (const Piece& piece : pieces)
    for (std::size_t row = 0; row + 1 < piece.offsets.size(); ++row)
      entry_begin_.push_back(entry_begin_.back() + piece.offsets[row + 1] - piece.offsets[row]);
  places_.resize(static_cast<std::size_t>(entry_begin_.back()));
  std::size_t entry = 0;
  std::size_t row = 0;
  for (const Piece& piece : pieces)
    for (std::size_t i = 0; i + 1 < piece.offsets.size(); ++i, ++row) {
      const auto* const columns = matrix.rows.columns.data();
      const auto begin = columns + matrix.rows.row_offsets[row];
      const auto end = columns + matrix.rows.row_offsets[row + 1];
      for (auto k = piece.offsets[i]; k < piece.offsets[i + 1]; ++k) {
        const GlobalIndex wanted =
            piece.columns[static_cast<std::size_t>(k - piece.offsets.front())];
        const auto found = std::lower_bound(begin, end, wanted, [&](LocalIndex c, GlobalIndex w) {
          return matrix.global_column(c) < w;
        });
        places_[entry++] = static_cast<std::uint32_t>(found - begin);
      }
    }
}

std::vector<std::span<const double>> CallerRows::parts_of(
    const std::map<int, std::vector<double>>& received, std::span<const double> values) const {
  std::vector<std::span<const double>> parts;
  const auto own = parcels_.find(communicator_.rank());
  bool has_own = own == parcels_.end();
  const auto add_own = [&] {
    if (std::exchange(has_own, true)) return;
    parts.push_back(values.subspan(own->second.begin, own->second.end - own->second.begin));
  };
  for (const auto& [source, list] : received) {
    if (source > communicator_.rank()) add_own();
    parts.emplace_back(list);
  }
  add_own();
  return parts;
}

}  // namespace weft::library
