// A table of matrices of every kind, solved as `weft solve FILE` does: whatever was chosen, the
// status says what x is.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

using Entries = std::vector<std::pair<std::int64_t, double>>;  // (column, value), ascending
using RowEntries = std::function<Entries(std::int64_t row)>;

/// What must come of a system.
enum class Outcome {
  solved,
  no_solution,  // b has a part outside the range
  either,  // too hard for some methods, but the status is to say so
};

struct Case {
  std::string name;
  std::int64_t row_count;
  RowEntries row;
  Outcome outcome = Outcome::solved;
  std::string b = "x-random:1";  // A times a random x: always has a solution
};

/// The 5-point stencil on n×n points; `entry(i, j)` of neighbours and of the point itself.
template <class Entry>
RowEntries grid(std::int64_t n, const Entry& entry) {
  return [n, entry](std::int64_t i) {
    Entries entries;
    if (i >= n) entries.emplace_back(i - n, entry(i, i - n));
    if (i % n > 0) entries.emplace_back(i - 1, entry(i, i - 1));
    entries.emplace_back(i, entry(i, i));
    if (i % n < n - 1) entries.emplace_back(i + 1, entry(i, i + 1));
    if (i + n < n * n) entries.emplace_back(i + n, entry(i, i + n));
    return entries;
  };
}

RowEntries laplacian(std::int64_t n, double diagonal = 4, double factor = 1) {
  return grid(n, [=](std::int64_t i, std::int64_t j) { return factor * (i == j ? diagonal : -1); });
}

RowEntries neumann(std::int64_t n) {
  return grid(n, [n](std::int64_t i, std::int64_t j) {
    if (i != j) return -1.0;
    return 4.0 - static_cast<double>((i < n) + (i + n >= n * n) + (i % n == 0) + (i % n == n - 1));
  });
}

/// Rows and columns scaled by 1e-4 to 1e4.
RowEntries badly_scaled(std::int64_t n) {
  return grid(n, [](std::int64_t i, std::int64_t j) {
    const auto scale = [](std::int64_t k) {
      return std::pow(10.0, static_cast<double>(k % 9 - 4));
    };
    return (i == j ? 4.5 : -1.0) * scale(i) * scale(j);
  });
}

RowEntries convection(std::int64_t n, double wind) {
  return grid(n, [=](std::int64_t i, std::int64_t j) {
    return i == j ? 4 + wind : j < i ? -1 - wind / 2 : -1 + wind / 4;
  });
}

/// [D B; Bᵀ 0], with B of two entries a column.
RowEntries saddle_point(std::int64_t n) {
  return [n](std::int64_t i) -> Entries {
    if (i >= n) return {{2 * (i - n), 1.0}, {2 * (i - n) + 1, -0.5}};
    return {{i, 2.0 + 0.1 * static_cast<double>(i % 3)}, {n + i / 2, i % 2 == 0 ? 1.0 : -0.5}};
  };
}

RowEntries diagonal(double (*entry)(std::int64_t)) {
  return [entry](std::int64_t i) -> Entries { return {{i, entry(i)}}; };
}

std::vector<Case> cases() {
  return {
      {"definite", 900, laplacian(30)},
      {"definite, more than 5000 rows", 6400, laplacian(80)},
      {"negative definite", 900, laplacian(30, 4, -1)},
      {"badly scaled", 900, badly_scaled(30), Outcome::either},
      {"badly scaled, more than 5000 rows", 6400, badly_scaled(80), Outcome::either},
      {"semidefinite, consistent", 900, neumann(30)},
      {"semidefinite, consistent, more than 5000 rows", 6400, neumann(80)},
      {"semidefinite, inconsistent", 900, neumann(30), Outcome::no_solution, "ones"},
      {"convection", 900, convection(30, 3)},
      {"convection, more than 5000 rows", 6400, convection(80, 3)},
      {"strong convection, more than 5000 rows", 6400, convection(80, 100)},
      {"indefinite", 900, laplacian(30, 1.1)},
      {"indefinite, more than 5000 rows", 6400, laplacian(80, 3.7), Outcome::either},
      {"saddle point", 1500, saddle_point(1000)},
      {"saddle point, more than 5000 rows", 7500, saddle_point(5000), Outcome::either},
      {"zero diagonal, a cycle", 700,
       [](std::int64_t i) -> Entries { return {{(i + 1) % 700, 2.0}}; }},
      {"zero diagonal, a cycle of more than 5000 rows", 6000,
       [](std::int64_t i) -> Entries { return {{(i + 1) % 6000, 2.0}}; }, Outcome::either},
      {"one row", 1, diagonal([](std::int64_t) { return -3.0; })},
      {"one row of zero", 1, diagonal([](std::int64_t) { return 0.0; }), Outcome::no_solution,
       "ones"},
      {"diagonal", 2000, diagonal([](std::int64_t i) { return 1.0 + static_cast<double>(i); })},
      {"diagonal with a zero", 50, diagonal([](std::int64_t i) { return static_cast<double>(i); }),
       Outcome::no_solution, "ones"},
      {"disconnected", 1800,
       [](std::int64_t i) {
         Entries entries = laplacian(30, 4.2)(i % 900);
         for (auto& [column, value] : entries) column += i / 900 * 900;
         return entries;
       }},
      {"an empty row", 900,
       [](std::int64_t i) { return i == 17 ? Entries{} : laplacian(30, 5)(i); }, Outcome::either},
      {"upper triangular", 6000,
       [](std::int64_t i) {
         return i + 7 < 6000 ? Entries{{i, 2.0}, {i + 7, 1.0}} : Entries{{i, 2.0}};
       }},
      {"Hilbert", 12,
       [](std::int64_t i) {
         Entries entries;
         for (std::int64_t j = 0; j < 12; ++j)
           entries.emplace_back(j, 1.0 / static_cast<double>(i + j + 1));
         return entries;
       },
       Outcome::either},
  };
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): a list of std::function does not leak

/// ‖b - A·x‖/‖b‖ by the loop that everybody would write; x and b whole, on every rank.
double residual_of(const Case& system, const std::vector<double>& b, const std::vector<double>& x) {
  double residual = 0;
  double norm = 0;
  for (std::int64_t row = 0; row < system.row_count; ++row) {
    double rest = b[static_cast<std::size_t>(row)];
    norm += rest * rest;
    for (const auto& [column, value] : system.row(row))
      rest -= value * x[static_cast<std::size_t>(column)];
    residual += rest * rest;
  }
  return std::sqrt(residual / norm);
}

std::vector<double> collective_whole(const Job& job, std::vector<double> own) {
  int count = static_cast<int>(own.size());
  std::vector<int> counts(static_cast<std::size_t>(job.size()));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, job.communicator());
  std::vector<int> places(counts.size(), 0);
  for (std::size_t rank = 1; rank < counts.size(); ++rank)
    places[rank] = places[rank - 1] + counts[rank - 1];
  std::vector<double> whole(static_cast<std::size_t>(places.back() + counts.back()));
  MPI_Allgatherv(own.data(), count, MPI_DOUBLE, whole.data(), counts.data(), places.data(),
                 MPI_DOUBLE, job.communicator());
  return whole;
}

Matrix collective_make(const Job& job, const Case& system) {
  const std::int64_t first = system.row_count * job.rank() / job.size();
  const std::int64_t end = system.row_count * (job.rank() + 1) / job.size();
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  for (std::int64_t row = first; row < end; ++row) {
    for (const auto& [column, value] : system.row(row)) {
      columns.push_back(column);
      values.push_back(value);
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  return Matrix::from_rows(job, {first, offsets, columns, values}, {{"triangle", "as-is"}});
}

TEST_CASE("whatever is chosen for a matrix, its status says what x is") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  for (const Case& system : cases()) {
    CAPTURE(system.name);
    const Matrix a = collective_make(job, system);
    const std::vector<double> b = a.right_hand_side(system.b);
    std::vector<double> x(b.size());
    Report report;
    std::string fault;
    try {
      Solver solver(a, {{"method", "auto"}, {"max-iterations", "1000"}});
      report = solver.solve(b, x);
    } catch (const Error& error) {
      fault = error.what();
    }
    CAPTURE(fault, report.method, report.preconditioner, report.explanation,
            report.relative_residual);
    const double residual = residual_of(system, collective_whole(job, b), collective_whole(job, x));
    CAPTURE(residual);
    if (system.outcome == Outcome::solved) CHECK(report.converged());
    if (system.outcome == Outcome::no_solution) CHECK(!report.converged());
    if (!fault.empty()) {
      CHECK(fault.find("expected") != std::string::npos);  // one line: found, expected
      continue;
    }
    CHECK(std::isfinite(residual));
    CHECK(report.decisions.size() >= 1);
    if (report.converged()) {
      CHECK(residual < 1.2e-8);
    } else {
      CHECK(residual > 1e-8);
    }
    CHECK(std::abs(report.relative_residual - residual) < 1e-6 * residual + 1e-13);
  }
}

}  // namespace
}  // namespace weft::tests
