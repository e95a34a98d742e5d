#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/amg/level_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/vector_halo.h"
#include "tests/solver/amg/crew_system.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;
using tests::CrewSystem;
using tests::ReferenceMatrix;

/// Rows without entries, of a few, and of more than a lane holds.
ReferenceMatrix rows_of_all_lengths() {
  constexpr GlobalIndex size = 1100;
  ReferenceMatrix matrix(static_cast<std::size_t>(size));
  for (GlobalIndex row = 0; row < size; ++row) {
    const GlobalIndex length = row % 97 == 5 ? 300 + row % 7 : row * row % 13;
    for (GlobalIndex k = 0; k < length; ++k)
      matrix[static_cast<std::size_t>(row)][(row + 3 * k * k) % size] =
          1.0 + static_cast<double>((row + k) % 11);
  }
  return matrix;
}

/// Some rows, one of them long, with columns further apart than 16 bits say, on up to four ranks.
ReferenceMatrix rows_of_all_distances() {
  constexpr GlobalIndex size = 300'000;
  ReferenceMatrix matrix(static_cast<std::size_t>(size));
  for (GlobalIndex row = 0; row < size; ++row) {
    auto& entries = matrix[static_cast<std::size_t>(row)];
    entries[row] = 1 + static_cast<double>(row % 7);
    if (row % 1000 < 3) entries[(row + size * 2 / 3) % size] = 2;
    if (row == 40'000)
      for (GlobalIndex k = 0; k < 300; ++k) entries[k * 1000] = 3;
  }
  return matrix;
}

/// Rows with columns nearby, so that few are of interest to other ranks.
ReferenceMatrix rows_of_a_band() {
  constexpr GlobalIndex size = 2000;
  ReferenceMatrix matrix(static_cast<std::size_t>(size));
  for (GlobalIndex row = 0; row < size; ++row)
    for (GlobalIndex column = std::max<GlobalIndex>(0, row - 7);
         column < std::min<GlobalIndex>(size, row + 1 + row % 9); ++column)
      matrix[static_cast<std::size_t>(row)][column] = 1 + static_cast<double>((row + column) % 3);
  return matrix;
}

/// A·A·x on this rank's rows, the second product chained to the first. Collective.
template <class Value>
std::vector<Value> multiply_twice(CrewSystem& system, spmv::Starter starter,
                                  spmv::Starter next_starter) {
  comm_thread::Crew crew(system.op().crew());
  const spmv::CrsMatrix& rows = system.op().matrix().matrix().rows;
  const auto cuts = system.op().matrix().thread_rows();
  const auto columns_of = [&](LocalIndex row) {
    const auto i = static_cast<std::size_t>(row);
    const auto begin = static_cast<std::size_t>(rows.row_offsets[i]);
    return rows.columns.span().subspan(begin,
                                       static_cast<std::size_t>(rows.row_offsets[i + 1]) - begin);
  };
  LevelOperator<Value> op(
      crew, system.op().halo_plan(), {cuts.begin(), cuts.end()},
      [&](LocalIndex row) { return columns_of(row).size(); },
      [&](LocalIndex row) {
        return std::ranges::any_of(columns_of(row),
                                   [&](LocalIndex column) { return column >= rows.row_count; });
      },
      [&](LocalIndex row, const auto& add) {
        auto k = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row)]);
        for (const LocalIndex column : columns_of(row))
          add(static_cast<Value>(rows.values[k++]), column);
      });
  op.hold_back(crew, op.plan().send_list);
  const std::size_t room =
      system.count() + static_cast<std::size_t>(system.op().halo_plan().halo_count);
  std::vector<Value> x(room);
  for (std::size_t row = 0; row < system.count(); ++row)
    x[row] = static_cast<Value>((system.first() + row) % 5);
  std::vector<Value> y(room, Value{-1});
  std::vector<Value> z(system.count(), Value{-1});
  spmv::VectorHalo<Value> halo_of_x(crew, op.plan(), op.thread_rows(), x.data());
  spmv::VectorHalo<Value> halo_of_y(crew, op.plan(), op.thread_rows(), y.data());
  crew.communicator().barrier();
  perfmodel::PhaseTimer timer;
  system.team().run([&](const TeamThread& thread) {
    op.run_before(
        thread, starter, halo_of_x,
        [&](LocalIndex row, Value sum) { y[static_cast<std::size_t>(row)] = sum; }, op,
        next_starter, halo_of_y,
        [&](LocalIndex row, Value sum) { z[static_cast<std::size_t>(row)] = sum; },
        crew.comm_thread(), timer);
    thread.barrier();
  });
  return z;
}

/// A·x on this rank's rows, in a mode. `is_second`: A has the values of 3·A before. Collective.
template <class Value>
std::vector<Value> multiply(CrewSystem& system, spmv::Mode mode, std::int64_t nonzeros,
                            bool is_second) {
  comm_thread::Crew crew(system.op().crew());
  const spmv::DistributedMatrix& matrix = system.op().matrix().matrix();
  const auto cuts = system.op().matrix().thread_rows();
  const auto begin_of = [&](LocalIndex row) {
    return static_cast<std::size_t>(matrix.rows.row_offsets[static_cast<std::size_t>(row)]);
  };
  const auto count = [&](LocalIndex row) { return begin_of(row + 1) - begin_of(row); };
  double factor = is_second ? 3 : 1;
  const auto fill = [&](LocalIndex row, const auto& add) {
    for (std::size_t k = begin_of(row); k < begin_of(row + 1); ++k)
      add(static_cast<Value>(factor * matrix.rows.values[k]), matrix.rows.columns[k]);
  };
  LevelOperator<Value> op(
      crew, system.op().halo_plan(), {cuts.begin(), cuts.end()}, count,
      [&](LocalIndex row) {
        bool needs_halo = false;
        for (std::size_t k = begin_of(row); k < begin_of(row + 1); ++k)
          needs_halo |= matrix.rows.columns[k] >= matrix.rows.row_count;
        return needs_halo;
      },
      fill);
  if (is_second) {
    factor = 1;
    CHECK(op.take_new_values(crew, count, fill));
    // As many entries in all, but not in the same rows.
    factor = 5;
    const auto other_count = [&](LocalIndex row) {
      return count(row) + (row == 0 ? 1U : 0U) - (row == 1 ? 1U : 0U);
    };
    CHECK_FALSE(op.take_new_values(crew, other_count, fill));
  }
  CHECK(system.op().communicator().sum(op.nonzero_count()) == nonzeros);
  std::vector<Value> x(system.count() +
                       static_cast<std::size_t>(system.op().halo_plan().halo_count));
  for (std::size_t row = 0; row < system.count(); ++row)
    x[row] = static_cast<Value>((system.first() + row) % 5);
  spmv::VectorHalo<Value> halo(crew, op.plan(), op.thread_rows(), x.data());
  crew.communicator().barrier();
  std::vector<Value> y(system.count(), Value{-1});
  perfmodel::PhaseTimer timer;
  system.team().run([&](const TeamThread& thread) {
    op.run(thread, mode, halo, crew.comm_thread(), timer,
           [&](LocalIndex row, Value sum) { y[static_cast<std::size_t>(row)] = sum; });
    thread.barrier();
  });
  return y;
}

/// Compares products with small integers, which are not rounded. Collective.
template <class Value>
void check_products(const ReferenceMatrix& matrix) {
  std::int64_t nonzeros = 0;
  for (const auto& row : matrix) nonzeros += std::ssize(row);
  CrewSystem system(Communicator::collective_world(), matrix);
  std::vector<Value> expected;
  for (std::size_t row = system.first(); row < system.first() + system.count(); ++row) {
    double sum = 0;
    for (const auto& [column, value] : matrix[row]) sum += value * static_cast<double>(column % 5);
    expected.push_back(static_cast<Value>(sum));
  }
  for (const spmv::Mode mode : spmv::all_modes())
    for (const bool is_second : {false, true}) {
      CAPTURE(spmv::name(mode), is_second);
      const bool is_equal = multiply<Value>(system, mode, nonzeros, is_second) == expected;
      CHECK(is_equal);
    }
}

/// A·x of a whole matrix, in integers.
std::vector<double> product(const ReferenceMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> y;
  for (const auto& row : matrix) {
    double sum = 0;
    for (const auto& [column, value] : row) sum += value * x[static_cast<std::size_t>(column)];
    y.push_back(sum);
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("two products in a chain are exact, whoever starts the messages", "", float,
                   double) {
  const ReferenceMatrix matrix = rows_of_a_band();
  CrewSystem system(Communicator::collective_world(), matrix);
  std::vector<double> x;
  for (std::size_t row = 0; row < matrix.size(); ++row) x.push_back(static_cast<double>(row % 5));
  const std::vector<double> own = system.own(product(matrix, product(matrix, x)));
  const std::vector<TestType> expected(own.begin(), own.end());
  const std::vector<spmv::Starter> starters{spmv::Starter::communication_thread,
                                            spmv::Starter::primary_thread};
  for (const spmv::Starter starter : starters)
    for (const spmv::Starter next_starter : starters)
      for (int repetition = 0; repetition < 3; ++repetition) {
        const bool is_equal = multiply_twice<TestType>(system, starter, next_starter) == expected;
        CHECK(is_equal);
      }
}

TEMPLATE_TEST_CASE("products with rows of all lengths are exact, in every mode", "", float,
                   double) {
  check_products<TestType>(rows_of_all_lengths());
}

TEMPLATE_TEST_CASE("products with columns at all distances are exact, in every mode", "", float,
                   double) {
  check_products<TestType>(rows_of_all_distances());
}

}  // namespace weft::solver::amg
