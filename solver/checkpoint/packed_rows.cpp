#include "solver/checkpoint/packed_rows.h"

#include <algorithm>
#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::solver {
namespace {

std::uint64_t checksum_of_rows(const double* values, std::int64_t global_row, std::size_t count,
                               std::size_t number) {
  constexpr unsigned row_bits = 48;
  const std::uint64_t row = static_cast<std::uint64_t>(global_row);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t seed = (row + i) ^ (static_cast<std::uint64_t>(number) << row_bits);
    sum += XXH3_64bits_withSeed(values + i, sizeof(double), seed);
  }
  return sum;
}

std::vector<std::vector<PackedRows::Piece>> pieces_of(const spmv::LinearOperator& op) {
  std::vector<std::vector<PackedRows::Piece>> pieces;
  for (int thread = 0; thread < op.team().thread_count(); ++thread) {
    pieces.emplace_back();
    for (const spmv::Segment& segment : op.segments(thread))
      if (segment.count > 0)
        pieces.back().push_back(
            {segment.begin, op.global_row(segment.begin), static_cast<std::size_t>(segment.count)});
  }
  return pieces;
}

}  // namespace

PackedRows::PackedRows(const spmv::LinearOperator& op)
    : PackedRows(pieces_of(op), op.global_row_count()) {}

PackedRows::PackedRows(const std::vector<std::vector<Piece>>& pieces, std::int64_t global_count)
    : global_count_(global_count) {
  for (const std::vector<Piece>& of_thread : pieces) {
    places_.emplace_back();
    for (const auto& [element, global_row, count] : of_thread) {
      if (count == 0) continue;
      places_.back().push_back({element, count_, count});
      runs_.push_back({global_row, count_, count});
      count_ += count;
    }
  }
  std::ranges::sort(runs_, {}, &Run::global_row);
  std::size_t last = 0;
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    Run& before = runs_[last];
    const bool follows =
        runs_[i].global_row == before.global_row + static_cast<std::int64_t>(before.count) &&
        runs_[i].packed == before.packed + before.count;
    if (follows)
      before.count += runs_[i].count;
    else
      runs_[++last] = runs_[i];
  }
  if (!runs_.empty()) runs_.resize(last + 1);
}

void PackedRows::pack(const comm_thread::TeamThread& thread, const double* vector,
                      double* packed) const {
  for_each_piece(thread, [&](std::size_t element, std::size_t place, std::size_t count) {
    std::copy_n(vector + element, count, packed + place);
  });
}

void PackedRows::unpack(const comm_thread::TeamThread& thread, const double* packed,
                        double* vector) const {
  for_each_piece(thread, [&](std::size_t element, std::size_t place, std::size_t count) {
    std::copy_n(packed + place, count, vector + element);
  });
}

std::uint64_t PackedRows::checksum(const double* packed, std::size_t number) const {
  std::uint64_t sum = 0;
  for (const Run& run : runs_)
    sum += checksum_of_rows(packed + run.packed, run.global_row, run.count, number);
  return sum;
}

std::uint64_t collective_checksum(const spmv::LinearOperator& op, const double* vector) {
  std::uint64_t sum = 0;
  for (int thread = 0; thread < op.team().thread_count(); ++thread)
    for (const spmv::Segment& segment : op.segments(thread))
      if (segment.count > 0)
        sum += checksum_of_rows(vector + segment.begin, op.global_row(segment.begin),
                                static_cast<std::size_t>(segment.count), 0);
  return collective_add(op.communicator(), sum);
}

std::uint64_t collective_add(const comm_thread::Communicator& communicator, std::uint64_t own) {
  // In two halves, which no number of ranks makes overflow.
  constexpr unsigned half = 32;
  std::array<std::int64_t, 2> parts{static_cast<std::int64_t>(own & 0xffffffffU),
                                    static_cast<std::int64_t>(own >> half)};
  communicator.sum(parts);
  return static_cast<std::uint64_t>(parts[0]) + (static_cast<std::uint64_t>(parts[1]) << half);
}

}  // namespace weft::solver
