#include "spmv/formats/vtk_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/arrays/shared_output.h"

namespace weft::spmv {
namespace {

constexpr std::string_view start = R"(<?xml version="1.0"?>
<VTKFile type="{0}" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <{0} WholeExtent="{1}"{2} Origin="0 0 0" Spacing="1 1 1">
)";
constexpr std::string_view tail = "\n  </AppendedData>\n</VTKFile>\n";
constexpr std::string_view pieces_ending = ".pvti";

/// Points of a grid, from the first to the last in each direction.
struct Extent {
  std::array<GlobalIndex, 3> first{};
  std::array<GlobalIndex, 3> last{};

  GlobalIndex size(std::size_t d) const { return last[d] - first[d] + 1; }
  GlobalIndex point_count() const { return size(0) * size(1) * size(2); }
  std::string text() const {
    return fmt::format("{} {} {} {} {} {}", first[0], last[0], first[1], last[1], first[2],
                       last[2]);
  }
};

/// All before the numbers: the text, and how many bytes there are.
std::string head_of(const Extent& whole, const Extent& piece) {
  const std::uint64_t bytes = sizeof(double) * static_cast<std::uint64_t>(piece.point_count());
  std::string head = fmt::format(start, "ImageData", whole.text(), "") + "    <Piece Extent=\"" +
                     piece.text() +
                     "\">\n"
                     "      <PointData Scalars=\"x\">\n"
                     "        <DataArray type=\"Float64\" Name=\"x\" format=\"appended\" "
                     "offset=\"0\"/>\n"
                     "      </PointData>\n"
                     "    </Piece>\n"
                     "  </ImageData>\n"
                     "  <AppendedData encoding=\"raw\">\n"
                     "   _";
  std::array<char, sizeof(bytes)> count{};
  std::memcpy(count.data(), &bytes, sizeof(bytes));
  return head.append(count.data(), count.size());
}

/// One file of the points of `piece`, of which this rank has `own` from number `first` on.
void collective_write_image(const comm_thread::Communicator& communicator, const Extent& whole,
                            const Extent& piece, std::span<const double> own, GlobalIndex first,
                            const std::string& path) {
  const std::string head = head_of(whole, piece);
  SharedOutput output(communicator, path);
  const std::int64_t value_bytes = 8;
  if (communicator.is_root()) {
    output.write(0, std::as_bytes(std::span(head)));
    output.write(std::ssize(head) + value_bytes * piece.point_count(),
                 std::as_bytes(std::span(tail)));
  }
  output.write(std::ssize(head) + value_bytes * first, std::as_bytes(own));
  output.collective_finish();
}

/// A piece for each rank: whole planes, rows or points, whichever is the last direction that has
/// several. Pieces that touch have the points between them in common.
///
///     7 planes, 3 ranks     0 1 2 | 2 3 4 | 4 5 6
class Pieces {
 public:
  Pieces(const Extent& whole, int rank_count) : whole_(whole), rank_count_(rank_count) {
    while (direction_ > 0 && whole.size(direction_) == 1) --direction_;
  }

  /// Nothing for some where there are more ranks than spaces between planes.
  std::optional<Extent> of(int rank) const {
    const GlobalIndex spaces = std::max<GlobalIndex>(whole_.last[direction_], 1);
    Extent piece = whole_;
    piece.first[direction_] = spaces * rank / rank_count_;
    piece.last[direction_] = spaces * (rank + 1) / rank_count_;
    if (piece.size(direction_) == 1) return std::nullopt;
    piece.last[direction_] = std::min(piece.last[direction_], whole_.last[direction_]);
    return piece;
  }
  /// The first of a piece's rows, which are consecutive.
  GlobalIndex first_row(const Extent& piece) const {
    return piece.point_count() / piece.size(direction_) * piece.first[direction_];
  }

 private:
  Extent whole_;
  int rank_count_;
  std::size_t direction_ = 2;
};

/// The values of this rank's piece, from the ranks that own them.
std::vector<double> collective_fetch_piece(const comm_thread::Communicator& communicator,
                                           const Pieces& pieces, GlobalIndex first_row,
                                           std::span<const double> own) {
  comm_thread::Lists<double> lists;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const std::optional<Extent> piece = pieces.of(rank);
    if (!piece) continue;
    const GlobalIndex first_of_piece = pieces.first_row(*piece);
    const GlobalIndex begin = std::max(first_row, first_of_piece);
    const GlobalIndex end =
        std::min(first_row + std::ssize(own), first_of_piece + piece->point_count());
    if (begin >= end) continue;
    lists[rank].assign(own.begin() + (begin - first_row), own.begin() + (end - first_row));
  }
  // Ascending ranks have ascending rows.
  return comm_thread::collective_exchange_joined(communicator, std::move(lists));
}

/// "NAME_RANK.vti" beside NAME.pvti.
std::string path_of_piece(const std::string& path, int rank) {
  return fmt::format("{}_{}.vti", path.substr(0, path.size() - pieces_ending.size()), rank);
}

void collective_write_pieces(const comm_thread::Communicator& communicator, const Extent& whole,
                             GlobalIndex first_row, std::span<const double> own,
                             const std::string& path) {
  const Pieces pieces(whole, communicator.size());
  const std::vector<double> values = collective_fetch_piece(communicator, pieces, first_row, own);
  comm_thread::collective_attempt(communicator, [&] {
    if (const auto piece = pieces.of(communicator.rank()))
      collective_write_image(comm_thread::Communicator::self(), whole, *piece, values, 0,
                             path_of_piece(path, communicator.rank()));
  });
  SharedOutput output(communicator, path);
  if (communicator.is_root()) {
    std::string index = fmt::format(start, "PImageData", whole.text(), " GhostLevel=\"0\"") +
                        "    <PPointData Scalars=\"x\">\n"
                        "      <PDataArray type=\"Float64\" Name=\"x\"/>\n"
                        "    </PPointData>\n";
    for (int rank = 0; rank < communicator.size(); ++rank)
      if (const auto piece = pieces.of(rank))
        index += fmt::format("    <Piece Extent=\"{}\" Source=\"{}\"/>\n", piece->text(),
                             std::filesystem::path(path_of_piece(path, rank)).filename().string());
    index += "  </PImageData>\n</VTKFile>\n";
    output.write(0, std::as_bytes(std::span(index)));
  }
  output.collective_finish();
}

}  // namespace

bool is_vtk_file(std::string_view path) {
  return path.ends_with(".vti") || path.ends_with(pieces_ending);
}

void collective_write_vtk_image(const comm_thread::Communicator& communicator,
                                const RowPartition& partition, std::span<const double> own,
                                const std::array<GlobalIndex, 3>& points, const std::string& path) {
  const GlobalIndex rows = partition.row_count();
  // By division, so that no product overflows.
  if (points[0] < 1 || points[1] < 1 || points[2] < 1 || rows % points[0] != 0 ||
      rows / points[0] % points[1] != 0 || rows / points[0] / points[1] != points[2])
    throw comm_thread::InputError(path + ": found " + std::to_string(rows) + " rows; expected " +
                                  std::to_string(points[0]) + "x" + std::to_string(points[1]) +
                                  "x" + std::to_string(points[2]) + ", the points of the grid");
  const Extent whole{.last = {points[0] - 1, points[1] - 1, points[2] - 1}};
  const GlobalIndex first_row = partition.begin(communicator.rank());
  if (path.ends_with(pieces_ending))
    collective_write_pieces(communicator, whole, first_row, own, path);
  else
    collective_write_image(communicator, whole, whole, own, first_row, path);
}

}  // namespace weft::spmv
