#include "spmv/entries/mirrored_matrix.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/row_delivery.h"

namespace weft::spmv {
namespace {

struct MirrorImage {
  GlobalIndex column;
  double value;
};

struct ReceivedImage {
  GlobalIndex row;
  MirrorImage image;
};

/// The mirror images of other ranks' entries that are in rows of this one. `given`: gets the number
/// of its own entries, without zeros beside the diagonal.
template <class IsOwn>
std::vector<ReceivedImage> collective_exchange_images(const comm_thread::Communicator& communicator,
                                                      const DistributedMatrix& half,
                                                      const IsOwn& is_own, std::int64_t& given) {
  std::vector<GlobalIndex> rows_elsewhere;
  std::vector<MirrorImage> images;
  half.for_each_entry([&](GlobalIndex row, GlobalIndex column, double value) {
    if (value != 0 || row == column) ++given;
    if (is_own(column)) return;
    rows_elsewhere.push_back(column);
    images.push_back({row, value});
  });
  std::vector<ReceivedImage> received;
  collective_deliver<MirrorImage>(
      communicator, half.partition, rows_elsewhere, images,
      [&](GlobalIndex row, const MirrorImage& image) { received.push_back({row, image}); });
  return received;
}

[[noreturn]] void fail_of(const MirrorMerge& merge) {
  throw comm_thread::InputError(fmt::format(
      "found {} for row {}, column {}, but {} for row {}, column {}, counted from 1; expected "
      "equal values with {}, or entries on one side of the diagonal only",
      merge.value, merge.row + 1, merge.column + 1, merge.mirrored, merge.column + 1, merge.row + 1,
      comm_thread::option_name("triangle", "mirrored")));
}

[[noreturn]] void fail_of_sides() {
  throw comm_thread::InputError(
      "found entries on both sides of the diagonal that are no mirror images of each other; "
      "expected one side only with " +
      comm_thread::option_name("triangle", "mirrored"));
}

}  // namespace

DistributedMatrix collective_mirror(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& half, const DiagonalSides& sides) {
  const auto is_own = [&](GlobalIndex row) {
    return row >= half.first_row() && row < half.partition.end(half.rank);
  };

  std::int64_t given = 0;
  const std::vector<ReceivedImage> received =
      collective_exchange_images(communicator, half, is_own, given);

  MatrixAssembly assembly(half.partition, half.rank);
  half.for_each_entry([&](GlobalIndex row, GlobalIndex column, double /*value*/) {
    assembly.count(row, column);
    if (row != column && is_own(column)) assembly.count(column, row);
  });
  for (const auto& [row, image] : received) assembly.count(row, image.column);
  comm_thread::collective_attempt(communicator, [&] { assembly.allocate(team); });
  half.for_each_entry([&](GlobalIndex row, GlobalIndex column, double value) {
    if (row == column || value != 0) assembly.insert(row, column, value);
    if (row != column && value != 0 && is_own(column)) assembly.insert_mirrored(column, row, value);
  });
  for (const auto& [row, image] : received)
    if (image.value != 0) assembly.insert_mirrored(row, image.column, image.value);

  const MirrorMerge merge = assembly.collective_merge_mirrored(communicator, team);
  if (merge.has_conflict) fail_of(merge);
  DistributedMatrix whole = std::move(assembly).collective_finish(communicator, team);
  if (!sides.is_one_sided() && whole.global_nonzero_count != communicator.sum(given))
    fail_of_sides();
  return whole;
}

}  // namespace weft::spmv
