#include "spmv/formats/csr_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/simd.h"
#include "spmv/arrays/byte_source.h"

namespace weft::spmv {

using comm_thread::Communicator;

namespace {

/// The first columns of a row, without its own; nothing where its offsets are wrong, which whoever
/// reads all of them says.
std::vector<std::int64_t> neighbours_of(const CsrSource& source, GlobalIndex row) {
  constexpr std::int64_t most = 20;
  std::array<std::int64_t, 2> ends{};
  source.rows.read(row, ends, "row offsets");
  const auto [begin, end] = ends;
  if (begin < 0 || end < begin || end > source.nonzero_count) return {};
  std::vector<std::int64_t> columns(static_cast<std::size_t>(std::min(end - begin, most)));
  source.columns.read(begin, columns, "columns");
  for (std::size_t k = 0; k < columns.size(); ++k)
    source.check_column(columns[k], begin + static_cast<std::int64_t>(k));
  std::erase(columns, row);
  return columns;
}

/// Where in its array a number stands, counted from 0.
std::string at_number(std::int64_t place) { return " at number " + std::to_string(place); }

constexpr const char* more_nonzeros =
    "found more nonzeros in its rows than it says; expected as many";

/// Reads pieces that stay in a cache into `numbers`, which begin at number `begin` of the rows, and
/// calls take(index of the first in `numbers`, how many).
template <class Take>
void for_pieces_of_rows(const CsrSource& source, GlobalIndex begin, std::span<std::int64_t> numbers,
                        const char* what, const Take& take) {
  constexpr std::size_t most = 1 << 14;
  for (std::size_t done = 0; done < numbers.size();) {
    const auto piece = numbers.subspan(done, std::min(most, numbers.size() - done));
    source.rows.read(begin + static_cast<std::int64_t>(done), piece, what);
    take(done, piece.size());
    done += piece.size();
  }
}

/// Reads where rows begin, counts that from the first one and returns its place.
std::int64_t read_offsets(const CsrSource& source, GlobalIndex begin, std::span<std::int64_t> at) {
  std::int64_t before = 0;
  std::int64_t previous = 0;
  for_pieces_of_rows(source, begin, at, "row offsets", [&](std::size_t first, std::size_t count) {
    const auto piece = at.subspan(first, count);
    if (first == 0) before = piece[0];
    const auto check = [&](std::int64_t offset, std::size_t row) {
      if (offset < previous || offset > source.nonzero_count)
        source.fail("found row offset " + std::to_string(offset) +
                    at_number(begin + static_cast<std::int64_t>(first + row)) +
                    "; expected offsets that ascend from 0 to " +
                    std::to_string(source.nonzero_count));
      previous = offset;
    };
    std::int64_t descents = 0;
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      std::int64_t found = 0;
      for (std::size_t row = 1; row < piece.size(); ++row)
        found += static_cast<std::int64_t>(piece[row] < piece[row - 1]);
      descents = found;
    });
    // Where all ascend, the first and the last tell.
    if (descents > 0)
      for (std::size_t row = 0; row < count; ++row) check(piece[row], row);
    check(piece[0], 0);
    check(piece[count - 1], count - 1);
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      for (std::int64_t& offset : piece) offset -= before;
    });
  });
  return before;
}

/// Reads lengths of rows and adds them up: at[0] is 0.
void add_lengths(const CsrSource& source, GlobalIndex begin, std::span<std::int64_t> at) {
  std::int64_t sum = 0;
  for_pieces_of_rows(source, begin, at.subspan(1), "row lengths",
                     [&](std::size_t first, std::size_t count) {
                       for (std::size_t row = first; row < first + count; ++row) {
                         const std::int64_t length = at[row + 1];
                         if (length < 0 || length > source.nonzero_count)
                           source.fail("found a row of length " + std::to_string(length) +
                                       at_number(begin + static_cast<std::int64_t>(row)) +
                                       "; expected 0 to " + std::to_string(source.nonzero_count));
                         sum += length;
                         if (sum > source.nonzero_count) source.fail(more_nonzeros);
                         at[row + 1] = sum;
                       }
                     });
}

}  // namespace

void CsrSource::fail(const std::string& complaint) const {
  throw comm_thread::InputError(name() + ": " + complaint);
}

void CsrSource::fail_of(std::int64_t number, const char* what, std::int64_t place) const {
  fail(std::string("found ") + what + " " + std::to_string(number) + at_number(place) +
       "; expected 0 to " + std::to_string(row_count - 1));
}

void CsrSource::check_sizes(int rank_count) const {
  const GlobalIndex most = GlobalIndex{std::numeric_limits<LocalIndex>::max()} * rank_count;
  if (row_count < 1 || nonzero_count < 1)
    fail("found an empty matrix (" + std::to_string(row_count) + " rows, " +
         std::to_string(nonzero_count) + " nonzeros); expected at least one nonzero");
  if (row_count > most)
    fail("found " + std::to_string(row_count) + " rows; expected at most " + std::to_string(most) +
         " on " + std::to_string(rank_count) + " ranks");
  rows.check_size("rows");
  columns.check_size("columns");
  values.check_size("values");
}

void collective_attempt_to_store(const Communicator& communicator, const CsrSource& source,
                                 const std::function<void()>& work) {
  comm_thread::collective_attempt(communicator, [&] {
    try {
      work();
    } catch (const std::bad_alloc&) {
      source.fail("the matrix needs more memory than there is; use more ranks");
    }
  });
}

void collective_compare_checksums(const Communicator& communicator, const CsrSource& source) {
  for (const NumberArray* const array : {&source.rows, &source.columns, &source.values}) {
    PartOfBytes* const part = array->source->unchecked();
    if (!part) continue;
    std::uint32_t own = part->sum();
    comm_thread::collective_attempt(communicator, [&] {
      if (!communicator.is_root()) return;
      const std::int64_t end = array->offset + array->count * array->type.bytes;
      own ^= part->sum_of(0, array->offset);
      own ^= part->sum_of(end, part->size());
    });
    // The exclusive or over all ranks: bits that an odd number of them has.
    std::array<std::int64_t, 32> bits{};
    for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = (own >> bit) & 1;
    communicator.sum(bits);
    std::uint32_t all = 0;
    for (std::size_t bit = 0; bit < bits.size(); ++bit)
      all |= static_cast<std::uint32_t>(bits[bit] & 1) << bit;
    part->checksum().compare(all, source.name());
  }
}

RowOffsets collective_read_offsets(const Communicator& communicator, const CsrSource& source,
                                   GlobalIndex begin, GlobalIndex end) {
  perfmodel::HugePageBuffer<std::int64_t> at(static_cast<std::size_t>(end - begin + 1));
  std::int64_t before = 0;
  const bool is_first = begin == 0 && begin < end;
  const bool is_last = end == source.row_count && begin < end;
  // Where one rank's rows end, the next one's begin.
  source.rows.begin_sum(begin, source.has_offsets && is_last ? end + 1 : end);
  comm_thread::collective_attempt(communicator, [&] {
    if (source.has_offsets)
      before = read_offsets(source, begin, at.span());
    else
      add_lengths(source, begin, at.span());
  });
  if (!source.has_offsets) before = communicator.exclusive_prefix_sum(at[at.size() - 1]);
  comm_thread::collective_attempt(communicator, [&] {
    const std::int64_t last = before + at[at.size() - 1];
    if (last > source.nonzero_count) source.fail(more_nonzeros);
    if ((is_first && before != 0) || (is_last && last != source.nonzero_count))
      source.fail("found rows that do not have the " + std::to_string(source.nonzero_count) +
                  " nonzeros of the file; expected them to begin at 0 and end there");
  });
  return {std::move(at), before};
}

EntrySample sample_entries(const CsrSource& source) {
  constexpr GlobalIndex all_rows = 2048;
  constexpr std::int64_t most_entries_of_a_row = 1 << 10;
  EntrySample sample;
  if (source.layout == CsrSource::Layout::entries || !source.is_parallel()) return sample;
  const GlobalIndex windows = source.has_offsets ? 32 : 1;
  for (GlobalIndex window = 0; window < windows; ++window) {
    const GlobalIndex first = source.row_count / windows * window;
    const auto count =
        static_cast<std::size_t>(std::min(all_rows / windows, source.row_count - first));
    std::vector<std::int64_t> offsets(count + 1);
    if (source.has_offsets)
      source.rows.read(first, offsets, "row offsets");
    else
      source.rows.read(first, std::span(offsets).subspan(1), "row lengths");
    for (std::size_t row = 0; row < count; ++row) {
      if (offsets[row + 1] > source.nonzero_count) return {};
      if (!source.has_offsets) offsets[row + 1] += offsets[row];
      if (offsets[row] < 0 || offsets[row + 1] < offsets[row] ||
          offsets[row + 1] > source.nonzero_count)
        return {};
      const std::int64_t length = offsets[row + 1] - offsets[row];
      std::vector<std::int64_t> columns(
          static_cast<std::size_t>(std::min(length, most_entries_of_a_row)));
      source.columns.read(offsets[row], columns, "columns");
      for (std::size_t k = 0; k < columns.size(); ++k) {
        source.check_column(columns[k], offsets[row] + static_cast<std::int64_t>(k));
        sample.take(first + static_cast<GlobalIndex>(row), columns[k]);
      }
    }
  }
  return sample;
}

bool has_random_couplings(const CsrSource& source) {
  constexpr std::int64_t sampled_rows = 16;
  constexpr double least_degree = 3;  // chains and trees have none in common either
  constexpr double least_different = 0.9;
  if (source.layout != CsrSource::Layout::rows || !source.has_offsets || !source.is_parallel())
    return false;
  std::size_t met = 0;
  std::size_t neighbour_count = 0;
  std::size_t different = 0;
  for (std::int64_t sample = 0; sample < sampled_rows; ++sample) {
    const GlobalIndex row = source.row_count / sampled_rows * sample;
    const auto neighbours = neighbours_of(source, row);
    neighbour_count += neighbours.size();
    std::unordered_set<std::int64_t> distant;
    for (const GlobalIndex neighbour : neighbours)
      for (const GlobalIndex column : neighbours_of(source, neighbour)) {
        if (column == row) continue;
        ++met;
        distant.insert(column);
      }
    different += distant.size();
  }
  return static_cast<double>(neighbour_count) > least_degree * sampled_rows &&
         static_cast<double>(different) > least_different * static_cast<double>(met);
}

}  // namespace weft::spmv
