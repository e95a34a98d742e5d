// An own iteration without waiting: Jacobi sweeps for u - u'' = 1 on a line of points, of which
// each rank has a part. A rank sweeps with the newest values that have come from its neighbours.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    const weft::Job job(MPI_COMM_WORLD);
    const std::int64_t points = 30000;
    const std::int64_t count =
        points * (job.rank() + 1) / job.size() - points * job.rank() / job.size();
    const bool has_left = job.rank() > 0;
    const bool has_right = job.rank() < job.size() - 1;

    weft::UserIteration user;
    if (has_left) user.neighbours.push_back({job.rank() - 1, 1, 1});
    if (has_right) user.neighbours.push_back({job.rank() + 1, 1, 1});
    user.pack = [=](std::span<const double> u, std::size_t neighbour, std::span<double> out) {
      out[0] = has_left && neighbour == 0 ? u.front() : u.back();
    };
    // u of the two points beside point i; the halo has the left neighbour's, then the right one's.
    const auto beside = [=](std::span<const double> u, std::span<const double> halo,
                            std::size_t i) {
      const double left = i > 0 ? u[i - 1] : has_left ? halo[0] : 0;
      const double right = i + 1 < u.size() ? u[i + 1] : has_right ? halo[has_left ? 1 : 0] : 0;
      return left + right;
    };
    user.update = [=](std::span<const double> u, std::span<const double> halo,
                      std::span<double> next) {
      for (std::size_t i = 0; i < u.size(); ++i) next[i] = (1 + beside(u, halo, i)) / 3;
    };
    user.residual_square = [=](std::span<const double> u, std::span<const double> halo) {
      double sum = 0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        const double residual = 1 + beside(u, halo, i) - 3 * u[i];
        sum += residual * residual;
      }
      return sum;
    };

    weft::Iteration iteration(job, user, {{"variant", "async"}, {"tolerance", "1e-10"}});
    std::vector<double> u(static_cast<std::size_t>(count), 0.0);
    const weft::IterationReport report = iteration.run(u, std::sqrt(static_cast<double>(points)));
    if (job.rank() == 0) std::printf("%s, u[0] = %.6f\n", weft::name(report.status), u[0]);
  }
  MPI_Finalize();
}
