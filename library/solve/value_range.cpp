#include "library/solve/value_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
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

/// `visit`: (thread, add) calls add(value) for the values of a thread. `communicator`: of those who
/// have the others.
template <class Visit>
Magnitudes collective_magnitudes(const comm_thread::Communicator& communicator,
                                 const comm_thread::ComputeTeam& team, const Visit& visit) {
  std::vector<Magnitudes> of_threads(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    Magnitudes mine;
    visit(thread, [&](double value) { mine.add(value); });
    of_threads[static_cast<std::size_t>(thread.index)] = mine;
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

/// Calls work(k) for the entries of a thread's rows.
template <class Work>
void for_each_entry(const spmv::SparseOperator& op, const TeamThread& thread, const Work& work) {
  const CrsMatrix& rows = op.matrix().matrix().rows;
  const auto thread_rows = op.matrix().thread_rows();
  const auto offset = [&](int index) {
    return static_cast<std::size_t>(
        rows.row_offsets[static_cast<std::size_t>(thread_rows[static_cast<std::size_t>(index)])]);
  };
  for (std::size_t k = offset(thread.index), end = offset(thread.index + 1); k < end; ++k) work(k);
}

}  // namespace

ValueRange collective_range_of(const spmv::LinearOperator& op, std::span<const double> vector) {
  return range_of(collective_magnitudes(
      op.communicator(), op.team(), [&](const TeamThread& thread, const auto& add) {
        op.for_each_element(thread.index, [&](std::size_t i) { add(vector[i]); });
      }));
}

ValueRange collective_range_of(const spmv::SparseOperator& op) {
  const auto& values = op.matrix().matrix().rows.values;
  ValueRange range = range_of(collective_magnitudes(
      op.communicator(), op.team(), [&](const TeamThread& thread, const auto& add) {
        for_each_entry(op, thread, [&](std::size_t k) { add(values[k]); });
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
    for_each_entry(op, thread, [&](std::size_t k) { values[k] = std::ldexp(given[k], exponent); });
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
