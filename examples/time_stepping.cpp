// The heat equation on a square, with a conductivity that changes: (I + dt·K)·u' = u in every step.
// The matrix keeps its places and gets other values, the preconditioner is made once, and a step
// begins from the step before.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr std::int64_t side = 64;

struct Heat {
  std::int64_t first;
  std::int64_t end;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;

  Heat(int rank, int size)
      : first(side * side * rank / size), end(side * side * (rank + 1) / size) {
    fill(1, true);
  }

  /// The entries for one conductivity; their places only the first time.
  void fill(double conductivity, bool with_places = false) {
    values.clear();
    for (std::int64_t row = first; row < end; ++row) {
      const auto add = [&](bool is_there, std::int64_t column, double value) {
        if (!is_there) return;
        if (with_places) columns.push_back(column);
        values.push_back(value);
      };
      add(row >= side, row - side, -conductivity);
      add(row % side > 0, row - 1, -conductivity);
      add(true, row, 1 + 4 * conductivity);
      add(row % side < side - 1, row + 1, -conductivity);
      add(row < side * (side - 1), row + side, -conductivity);
      if (with_places) offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
};

}  // namespace

int main() {
  const weft::Job job;  // starts MPI
  Heat heat(job.rank(), job.size());
  auto a = weft::Matrix::from_rows(job, {heat.first, heat.offsets, heat.columns, heat.values});
  weft::Solver solver(a, {{"preconditioner", "jacobi"}, {"reuse-preconditioner", "true"}});
  std::vector<double> u(static_cast<std::size_t>(heat.end - heat.first), 1.0);
  std::int64_t iterations = 0;
  for (int step = 1; step <= 10; ++step) {
    heat.fill(1 + 0.1 * step);
    a.update_values(heat.values);
    const std::vector<double> before = u;
    const weft::Report report = solver.solve(before, u, weft::Start::from_guess);
    if (!report.converged()) {
      if (job.rank() == 0) std::printf("step %d: %s\n", step, report.json().c_str());
      return 3;
    }
    iterations += report.iterations;
  }
  if (job.rank() == 0)
    std::printf("converged in 10 steps, %lld iterations, u[0] = %.17g\n",
                static_cast<long long>(iterations), u[0]);
}
