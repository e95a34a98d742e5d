#include "library/solve/value_range.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/simd.h"
#include "spmv/rows/index.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using spmv::CrsMatrix;
using spmv::LocalIndex;

/// Exponents of ordinary values: those of products of two matrices and a vector are up to 300, of
/// their squares up to 600.
constexpr int most_ordinary_exponent = 100;
/// Of the largest value where smaller ones would leave the range of double with a lower one.
constexpr int most_exponent = 300;
/// Of the smallest double that has all its digits.
constexpr int least_exponent = std::numeric_limits<double>::min_exponent - 1;

/// Magnitudes of values that are not zero.
struct Magnitudes {
  double largest = 0;  // not finite where a value is not
  double least = std::numeric_limits<double>::infinity();

  void add(double value) {
    const double magnitude = std::abs(value);
    largest = magnitude > largest || std::isnan(magnitude) ? magnitude : largest;
    if (magnitude > 0 && magnitude < least) least = magnitude;
  }
  void add(const Magnitudes& other) {
    largest = other.largest > largest || std::isnan(other.largest) ? other.largest : largest;
    least = std::min(least, other.least);
  }
};

/// Magnitudes of values side by side, by their bits, which ascend as they do; those of what is not
/// a number are above infinity. 8 bytes and 5 integer operations a value.
Magnitudes magnitudes_of(std::span<const double> values) {
  constexpr long long magnitude_bits = std::numeric_limits<long long>::max();
  constexpr auto infinity_bits = std::bit_cast<long long>(std::numeric_limits<double>::infinity());
  std::array<long long, 8> largest{};
  std::array<long long, 8> least{};
  const std::size_t of_lanes = values.size() / 8 * 8;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Integers = typename Simd::template Lanes<long long, 8>;
    const Integers none(infinity_bits);
    Integers most(0);
    Integers fewest = none;
    for (std::size_t k = 0; k < of_lanes; k += 8) {
      const Integers bits =
          Simd::Lane8::load(values.data() + k).template bits_as<long long>() & magnitude_bits;
      const Integers above_zero = select(bits > 0LL, bits, none);
      most = select(bits > most, bits, most);
      fewest = select(fewest > above_zero, above_zero, fewest);
    }
    most.store(largest.data());
    fewest.store(least.data());
  });
  Magnitudes all;
  for (std::size_t lane = 0; lane < 8; ++lane)
    all.add({std::bit_cast<double>(largest[lane]), std::bit_cast<double>(least[lane])});
  for (const double value : values.subspan(of_lanes)) all.add(value);
  return all;
}

/// `of_thread`: (thread) gives the magnitudes of its values. `communicator`: of those who have the
/// others.
template <class OfThread>
Magnitudes collective_magnitudes(const comm_thread::Communicator& communicator,
                                 const comm_thread::ComputeTeam& team, const OfThread& of_thread) {
  std::vector<Magnitudes> of_threads(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    of_threads[static_cast<std::size_t>(thread.index)] = of_thread(thread);
  });
  Magnitudes all;
  for (const Magnitudes& one : of_threads) all.add(one);
  const bool is_finite = std::isfinite(all.largest);
  std::array<double, 2> most{is_finite ? all.largest : std::numeric_limits<double>::infinity(),
                             -all.least};
  communicator.max(most);
  return {.largest = most[0], .least = -most[1]};
}

ValueRange range_of(const Magnitudes& values) {
  ValueRange range{.largest = values.largest, .exponent = 0};
  if (!(values.largest > 0 && std::isfinite(values.largest))) return range;
  const int largest = std::ilogb(values.largest);
  if (largest < -most_ordinary_exponent) range.exponent = -largest;
  if (largest > most_ordinary_exponent) {
    // Down to 2⁰, but for small values beside the largest one.
    const int lossless = std::max(-largest, least_exponent - std::ilogb(values.least));
    range.exponent = std::min({0, lossless, most_exponent - largest});
  }
  return range;
}

/// Another buffer of the same memory, which nobody writes to.
template <class Value>
perfmodel::HugePageBuffer<Value> borrow(const perfmodel::HugePageBuffer<Value>& buffer) {
  return perfmodel::HugePageBuffer<Value>::borrow(
      {const_cast<Value*>(buffer.data()), buffer.size()});
}

/// Where the entries of a thread's rows begin and end.
std::pair<std::size_t, std::size_t> entries_of(const spmv::SparseOperator& op,
                                               const TeamThread& thread) {
  const CrsMatrix& rows = op.matrix().matrix().rows;
  const auto thread_rows = op.matrix().thread_rows();
  const auto offset = [&](int index) {
    return static_cast<std::size_t>(
        rows.row_offsets[static_cast<std::size_t>(thread_rows[static_cast<std::size_t>(index)])]);
  };
  return {offset(thread.index), offset(thread.index + 1)};
}

}  // namespace

ValueRange collective_range_of(const spmv::LinearOperator& op, std::span<const double> vector) {
  return range_of(
      collective_magnitudes(op.communicator(), op.team(), [&](const TeamThread& thread) {
        Magnitudes mine;
        op.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
          mine.add(magnitudes_of(vector.subspan(begin, static_cast<std::size_t>(count))));
        });
        return mine;
      }));
}

ValueRange collective_range_of(const spmv::SparseOperator& op) {
  const auto& values = op.matrix().matrix().rows.values;
  ValueRange range =
      range_of(collective_magnitudes(op.communicator(), op.team(), [&](const TeamThread& thread) {
        const auto [begin, end] = entries_of(op, thread);
        return magnitudes_of(values.span().subspan(begin, end - begin));
      }));
  range.exponent -= range.exponent % 2;
  return range;
}

spmv::DistributedMatrix with_values(const spmv::SparseOperator& op,
                                    perfmodel::HugePageBuffer<double> values) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  return {.partition = matrix.partition,
          .rank = matrix.rank,
          .rows = {.row_count = matrix.rows.row_count,
                   .row_offsets = borrow(matrix.rows.row_offsets),
                   .columns = borrow(matrix.rows.columns),
                   .values = std::move(values)},
          .halo_columns = matrix.halo_columns,
          .global_nonzero_count = matrix.global_nonzero_count};
}

spmv::SparseOperator collective_multiple(const spmv::SparseOperator& op, int exponent) {
  const auto& given = op.matrix().matrix().rows.values;
  perfmodel::HugePageBuffer<double> values(given.size());
  op.team().run([&](const TeamThread& thread) {
    const auto [begin, end] = entries_of(op, thread);
    for (std::size_t k = begin; k < end; ++k) values[k] = std::ldexp(given[k], exponent);
  });
  return {op.communicator(), op.comm_thread(), op.team(), with_values(op, std::move(values))};
}

void scale_in_place(spmv::SparseOperator& op, int exponent) {
  if (exponent == 0) return;
  const auto& offsets = op.matrix().matrix().rows.row_offsets;
  op.changeable_matrix().update_values(op.team(), [&](const TeamThread&, LocalIndex begin,
                                                      LocalIndex end, std::span<double> values) {
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(begin)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(end)]); ++k)
      values[k] = std::ldexp(values[k], exponent);
  });
}

double scale(const spmv::LinearOperator& op, int exponent, std::span<const double> from,
             std::span<double> to) {
  std::vector<double> lost(static_cast<std::size_t>(op.team().thread_count()));
  op.team().run([&](const TeamThread& thread) {
    double largest = 0;
    op.for_each_element(thread.index, [&](std::size_t i) {
      const double value = from[i];
      to[i] = std::ldexp(value, exponent);
      largest = std::max(largest, std::abs(std::ldexp(to[i], -exponent) - value));
    });
    lost[static_cast<std::size_t>(thread.index)] = largest;
  });
  return *std::ranges::max_element(lost);
}

}  // namespace weft::library
