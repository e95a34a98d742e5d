// A system whose rows every rank makes for itself: the five-point stencil on a square.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  try {
    const weft::Job job(MPI_COMM_WORLD);

    const std::int64_t side = 100;
    const std::int64_t row_count = side * side;
    const std::int64_t first = row_count * job.rank() / job.size();
    const std::int64_t end = row_count * (job.rank() + 1) / job.size();
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> columns;
    std::vector<double> values;
    for (std::int64_t row = first; row < end; ++row) {
      const auto add = [&](std::int64_t column, double value) {
        columns.push_back(column);
        values.push_back(value);
      };
      if (row >= side) add(row - side, -1);
      if (row % side > 0) add(row - 1, -1);
      add(row, 4);
      if (row % side < side - 1) add(row + 1, -1);
      if (row < row_count - side) add(row + side, -1);
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }

    const auto a = weft::Matrix::from_rows(job, {first, offsets, columns, values});
    weft::Solver solver(a, {{"method", "cg"}, {"tolerance", "1e-10"}});
    const std::vector<double> b(static_cast<std::size_t>(end - first), 1.0);
    std::vector<double> x(b.size());
    const weft::Report report = solver.solve(b, x);
    if (job.rank() == 0)
      std::printf("%s after %lld iterations, residual %.2e, x[0] = %.17g\n",
                  weft::name(report.status), static_cast<long long>(report.iterations),
                  report.relative_residual, x[0]);
  } catch (const weft::Error& error) {
    std::fprintf(stderr, "solve: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
