#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/thread_count.h"

namespace weft::tests {

/// This rank's rows of the 5-point stencil on n×n points; `entry(i, j)` of neighbours and of the
/// point itself, stored where it is not zero.
struct GridRows {
  GridRows(const Job& job, std::int64_t n,
           const std::function<double(std::int64_t i, std::int64_t j)>& entry) {
    const std::int64_t count = n * n;
    first_row = count * job.rank() / job.size();
    const std::int64_t end = count * (job.rank() + 1) / job.size();
    offsets.push_back(0);
    for (std::int64_t i = first_row; i < end; ++i) {
      const auto add = [&](bool exists, std::int64_t j) {
        if (!exists || entry(i, j) == 0) return;
        columns.push_back(j);
        values.push_back(entry(i, j));
      };
      add(i >= n, i - n);
      add(i % n > 0, i - 1);
      add(true, i);
      add(i % n < n - 1, i + 1);
      add(i + n < count, i + n);
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
  Rows rows() const { return {first_row, offsets, columns, values}; }

  std::int64_t first_row = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

inline double laplacian(std::int64_t i, std::int64_t j) { return i == j ? 4 : -1; }
inline double convection(std::int64_t i, std::int64_t j) { return i == j ? 5 : j < i ? -2 : -0.5; }

inline Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// The error of a solver with these options; "nothing" without one.
inline std::string fault_of(const Matrix& a, const Options& options) {
  try {
    const Solver solver(a, options);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "nothing";
}

}  // namespace weft::tests
