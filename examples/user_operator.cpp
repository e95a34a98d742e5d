// An operator without a matrix: u - u'' on a line of points, of which each rank has a part. The
// interior part runs while the two points beyond the rank's ends travel.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    const weft::Job job(MPI_COMM_WORLD);
    const std::int64_t points = 100000;
    weft::UserOperator user;
    user.first_row = points * job.rank() / job.size();
    user.row_count = points * (job.rank() + 1) / job.size() - user.first_row;
    const std::int64_t count = user.row_count;

    // The halo lies behind the own points: that of the left neighbour, then that of the right.
    const bool has_left = job.rank() > 0;
    const bool has_right = job.rank() < job.size() - 1;
    if (has_left) user.halo_rows.push_back(user.first_row - 1);
    if (has_right) user.halo_rows.push_back(user.first_row + count);
    const std::int64_t left_halo = count;
    const std::int64_t right_halo = count + (has_left ? 1 : 0);

    user.interior = [=](std::int64_t first, std::int64_t last, const double* x, double* y) {
      for (auto i = std::max<std::int64_t>(first, 1); i < std::min(last, count - 1); ++i)
        y[i] = 3 * x[i] - x[i - 1] - x[i + 1];
    };
    user.boundary = [=](std::int64_t first, std::int64_t last, const double* x, double* y) {
      for (const std::int64_t i : {std::int64_t{0}, count - 1}) {
        if (i < first || i >= last) continue;
        const double left = i > 0 ? x[i - 1] : has_left ? x[left_halo] : 0;
        const double right = i < count - 1 ? x[i + 1] : has_right ? x[right_halo] : 0;
        y[i] = 3 * x[i] - left - right;
      }
    };
    user.is_threaded = true;

    const auto a = weft::Matrix::from_operator(job, user);
    weft::Solver solver(a, {{"method", "cg"}, {"mode", "task"}});
    const std::vector<double> b(static_cast<std::size_t>(count), 1.0);
    std::vector<double> x(b.size());
    const weft::Report report = solver.solve(b, x);
    if (job.rank() == 0)
      std::printf("%s after %lld iterations, x[0] = %.17g\n", weft::name(report.status),
                  static_cast<long long>(report.iterations), x[0]);
  }
  MPI_Finalize();
}
