// Rows of a caller that move to other ranks, and where their entries went.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "library/state/caller_rows.h"
#include "spmv/matrix/assembly.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Calls visit(row, columns as given) for the rows of all pieces.
template <class Pieces, class Visit>
void for_each_row(const Pieces& pieces, const Visit& visit) {
  std::size_t row = 0;
  for (const auto& piece : pieces)
    for (std::size_t i = 0; i + 1 < piece.offsets.size(); ++i)
      visit(row++, piece.columns.subspan(
                       static_cast<std::size_t>(piece.offsets[i] - piece.offsets.front()),
                       static_cast<std::size_t>(piece.offsets[i + 1] - piece.offsets[i])));
}

}  // namespace

FromBothSides<ReceivedRows> CallerRows::collective_receive(const Rows& rows) {
  const auto entries_of = [&](const RowTransfer::Range& range) -> Entries {
    const auto entry = [&](GlobalIndex row) {
      return static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(row - rows.first_row)]);
    };
    return {entry(range.begin), entry(range.end)};
  };
  ParcelsOfRows parcels;
  kept_entries_ = transfer_.kept().is_empty() ? Entries{} : entries_of(transfer_.kept());
  transfer_.for_each_leaving([&](int other, const RowTransfer::Range& range) {
    leaving_[other] = entries_of(range);
    auto& places = parcels.places[other];
    for (auto row = static_cast<std::size_t>(range.begin - rows.first_row);
         row < static_cast<std::size_t>(range.end - rows.first_row); ++row) {
      places.push_back(rows.offsets[row + 1] - rows.offsets[row]);
      places.insert(places.end(), rows.columns.begin() + rows.offsets[row],
                    rows.columns.begin() + rows.offsets[row + 1]);
    }
  });
  parcels.values = values_that_leave(rows.values);
  return transfer_.collective_exchange(std::move(parcels));
}

std::vector<CallerRows::Piece> CallerRows::pieces_of(
    const Rows& rows, const FromBothSides<ReceivedRows>& received) const {
  std::vector<Piece> pieces;
  GlobalIndex first_row = transfer_.moved().begin(transfer_.rank());
  const auto add = [&](std::span<const std::int64_t> offsets, std::span<const GlobalIndex> columns,
                       std::span<const double> values) {
    if (offsets.size() < 2) return;
    pieces.push_back({first_row, offsets, columns, values});
    first_row += std::ssize(offsets) - 1;
  };
  const auto add_received = [&](const ReceivedRows& side) {
    add(side.offsets, side.columns, side.values);
  };
  add_received(received.before);
  if (const auto kept = transfer_.kept(); !kept.is_empty()) {
    const auto [begin, end] = kept_entries_;
    add(rows.offsets.subspan(static_cast<std::size_t>(kept.begin - rows.first_row),
                             static_cast<std::size_t>(kept.end - kept.begin) + 1),
        rows.columns.subspan(begin, end - begin), rows.values.subspan(begin, end - begin));
  }
  add_received(received.behind);
  return pieces;
}

comm_thread::Lists<double> CallerRows::values_that_leave(std::span<const double> values) const {
  comm_thread::Lists<double> lists;
  for (const auto& [other, entries] : leaving_) {
    const auto part = values.subspan(entries.begin, entries.end - entries.begin);
    lists[other].assign(part.begin(), part.end());
  }
  return lists;
}

DistributedMatrix CallerRows::collective_assemble(const Rows& rows) {
  const auto received = collective_receive(rows);
  const std::vector<Piece> pieces = pieces_of(rows, received);
  spmv::MatrixAssembly assembly(transfer_.moved(), transfer_.rank(), team_.thread_count());
  // Each thread takes the rows of its share, from whichever pieces they are.
  const auto for_own_entries = [&](const TeamThread& thread, const auto& visit) {
    const auto share =
        comm_thread::share_of(transfer_.moved().size(transfer_.rank()), thread.index, thread.count);
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
  const auto columns_of = [&](std::size_t row) {
    const auto begin = static_cast<std::size_t>(matrix.rows.row_offsets[row]);
    const auto end = static_cast<std::size_t>(matrix.rows.row_offsets[row + 1]);
    return matrix.rows.columns.span().subspan(begin, end - begin);
  };
  const auto global = [&](LocalIndex column) { return matrix.global_column(column); };
  bool is_in_order = true;
  for_each_row(pieces, [&](std::size_t row, std::span<const GlobalIndex> given) {
    is_in_order = is_in_order && std::ranges::equal(columns_of(row), given, {}, global);
  });
  if (is_in_order) return;
  entry_begin_.assign(1, 0);
  places_.clear();
  for_each_row(pieces, [&](std::size_t row, std::span<const GlobalIndex> given) {
    entry_begin_.push_back(entry_begin_.back() + std::ssize(given));
    const auto columns = columns_of(row);
    for (const GlobalIndex wanted : given)
      places_.push_back(static_cast<std::uint32_t>(
          std::ranges::lower_bound(columns, wanted, {}, global) - columns.begin()));
  });
}

}  // namespace weft::library
