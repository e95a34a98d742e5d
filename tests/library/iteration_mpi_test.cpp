// Iterations of a caller on weft's channels and detectors.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

constexpr std::int64_t own_count = 40;

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// Jacobi sweeps for 4·x_i − x_{i−1} − x_{i+1} = 1 on a line, `own_count` values a rank.
UserIteration line(const Job& job) {
  const bool has_left = job.rank() > 0;
  const bool has_right = job.rank() + 1 < job.size();
  UserIteration user;
  if (has_left) user.neighbours.push_back({job.rank() - 1, 1, 1});
  if (has_right) user.neighbours.push_back({job.rank() + 1, 1, 1});
  user.pack = [=](std::span<const double> x, std::size_t neighbour, std::span<double> out) {
    out[0] = has_left && neighbour == 0 ? x.front() : x.back();
  };
  const auto around = [=](std::span<const double> x, std::span<const double> halo, std::size_t i) {
    const double left = i > 0 ? x[i - 1] : has_left ? halo[0] : 0;
    const double right = i + 1 < x.size() ? x[i + 1] : has_right ? halo[has_left ? 1 : 0] : 0;
    return left + right;
  };
  user.update = [=](std::span<const double> x, std::span<const double> halo,
                    std::span<double> next) {
    for (std::size_t i = 0; i < x.size(); ++i) next[i] = (1 + around(x, halo, i)) / 4;
  };
  user.residual_square = [=](std::span<const double> x, std::span<const double> halo) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double residual = 1 + around(x, halo, i) - 4 * x[i];
      sum += residual * residual;
    }
    return sum;
  };
  return user;
}

double norm_of_b(const Job& job) { return std::sqrt(static_cast<double>(own_count * job.size())); }

/// ‖b − A·x‖/‖b‖ of the last values, from what MPI says the neighbours have.
double collective_residual(const Job& job, const std::vector<double>& x) {
  const MPI_Comm comm = job.communicator();
  const int left = job.rank() > 0 ? job.rank() - 1 : MPI_PROC_NULL;
  const int right = job.rank() + 1 < job.size() ? job.rank() + 1 : MPI_PROC_NULL;
  std::vector<double> halo;
  double from_left = 0;
  double from_right = 0;
  MPI_Sendrecv(&x.back(), 1, MPI_DOUBLE, right, 1, &from_left, 1, MPI_DOUBLE, left, 1, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x.front(), 1, MPI_DOUBLE, left, 2, &from_right, 1, MPI_DOUBLE, right, 2, comm,
               MPI_STATUS_IGNORE);
  if (left != MPI_PROC_NULL) halo.push_back(from_left);
  if (right != MPI_PROC_NULL) halo.push_back(from_right);
  double square = line(job).residual_square(x, halo);
  MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(square) / norm_of_b(job);
}

void check_converges(const Job& job, const Options& options) {
  Iteration iteration(job, line(job), options);
  std::vector<double> x(own_count, 0.0);
  const IterationReport report = iteration.run(x, norm_of_b(job));
  CHECK(report.status == Status::converged);
  CHECK(report.residual < 1e-10);
  CHECK(collective_residual(job, x) < 1.01e-10);
  // A second run begins where the first has ended.
  CHECK(iteration.run(x, norm_of_b(job)).status == Status::converged);
}

TEST_CASE("an iteration of the caller converges in lock step, with the same values in any mode") {
  const Job job = make_job();
  std::vector<double> first;
  for (const char* const mode : {"vector", "overlap", "task"}) {
    INFO(mode);
    const Options options{{"mode", mode}, {"tolerance", "1e-10"}, {"check-period", "5"}};
    check_converges(job, options);
    Iteration iteration(job, line(job), options);
    std::vector<double> x(own_count, 0.0);
    const auto report = iteration.run(x, norm_of_b(job));
    CHECK(report.iterations % 5 == 0);
    CHECK((first.empty() || first == x));
    first = x;
  }
}

TEST_CASE("an iteration whose residual is that of a few large rows has not converged") {
  const Job job = make_job();
  constexpr double penalty = 1e12;
  // 2·x_i − x_{i−1} − x_{i+1} = 0, but for the first row of each rank, which a penalty sets to 1.
  UserIteration user = line(job);
  const auto around = [](std::span<const double> x, std::size_t i) {
    return x[i - 1] + (i + 1 < x.size() ? x[i + 1] : 0);
  };
  user.update = [=](std::span<const double> x, std::span<const double>, std::span<double> next) {
    next[0] = 1;
    for (std::size_t i = 1; i < x.size(); ++i) next[i] = around(x, i) / 2;
  };
  const auto square = [=](std::span<const double> x, double of_first) {
    double sum = of_first * of_first * (1 - x[0]) * (1 - x[0]);
    for (std::size_t i = 1; i < x.size(); ++i)
      sum += (around(x, i) - 2 * x[i]) * (around(x, i) - 2 * x[i]);
    return sum;
  };
  const auto run = [&](double of_first) {
    user.residual_square = [=](std::span<const double> x, std::span<const double>) {
      return square(x, of_first);
    };
    Iteration iteration(job, user, {{"check-period", "1"}});
    std::vector<double> x(own_count, 0.0);
    return iteration.run(x, of_first * std::sqrt(static_cast<double>(job.size())));
  };
  const IterationReport hidden = run(penalty);
  CHECK(hidden.residual < 1e-8);
  CHECK(hidden.status == Status::not_converged);
  CHECK(hidden.explanation.find("rows may differ in scale") != std::string::npos);
  CHECK(run(1).status == Status::converged);
}

TEST_CASE("it converges without waiting, over every transport and with every detector") {
  const Job job = make_job();
  for (const char* const variant : {"async", "racy"})
    for (const char* const transport : {"two-sided", "one-sided", "shared"}) {
      INFO(variant << " " << transport);
      check_converges(job, {{"variant", variant},
                            {"transport", transport},
                            {"tolerance", "1e-10"},
                            {"max-iterations", "100000000"}});
    }
  for (const char* const detector : {"flags", "residual", "all-reduce", "snapshot"}) {
    INFO(detector);
    check_converges(job, {{"variant", "async"},
                          {"detector", detector},
                          {"tolerance", "1e-10"},
                          {"max-iterations", "100000000"}});
  }
}

TEST_CASE("a limit of iterations ends it, and monitors see residuals fall") {
  const Job job = make_job();
  Iteration iteration(job, line(job),
                      {{"max-iterations", "6"}, {"check-period", "2"}, {"tolerance", "1e-10"}});
  std::vector<double> seen;
  iteration.set_monitor([&](std::int64_t, double residual) {
    seen.push_back(residual);
    return false;
  });
  std::vector<double> x(own_count, 0.0);
  const IterationReport report = iteration.run(x, norm_of_b(job));
  CHECK(report.status == Status::not_converged);
  CHECK(report.iterations == 6);
  CHECK(seen.size() >= 2);
  CHECK(seen.back() < seen.front());
}

TEST_CASE(
    "a run of a fixed time, with a slow rank and halos at intervals that weft chooses, ends") {
  const Job job = make_job();
  Iteration iteration(job, line(job),
                      {{"variant", "async"},
                       {"seconds", "0.05"},
                       {"halo-period", "auto"},
                       {"inject", "slow:0:2,jitter:0.1"},
                       {"max-iterations", "1000000000"}});
  std::vector<double> x(own_count, 0.0);
  const IterationReport report = iteration.run(x, norm_of_b(job));
  CHECK(report.iterations > 0);
  CHECK(report.residual < 1);
  // One neighbour after the other: the same values.
  std::vector<double> in_turn(own_count, 0.0);
  std::vector<double> at_once(own_count, 0.0);
  Iteration(job, line(job), {{"wait", "wait"}}).run(in_turn, norm_of_b(job));
  Iteration(job, line(job)).run(at_once, norm_of_b(job));
  CHECK(in_turn == at_once);
}

TEST_CASE("neighbours that expect something else are an error on every rank") {
  const Job job = make_job();
  UserIteration user = line(job);
  user.update = {};
  CHECK_THROWS_WITH(Iteration(job, user), Catch::Contains("found no function"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"frob", "1"}}), Catch::Contains("unknown name"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"variant", "eager"}}),
                    Catch::Contains("expected sync, async, racy"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"transport", "shared"}, {"mode", "overlap"}}),
                    Catch::Contains("needs the communication thread"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"halo-period", "auto"}}),
                    Catch::Contains("expected a number, or variant=async"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"variant", "async"}, {"wait", "wait"}}),
                    Catch::Contains("with sync over two-sided only"));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"inject", "slow:0"}}),
                    Catch::Contains("option inject: "));
  CHECK_THROWS_WITH(Iteration(job, line(job), {{"inject", "stall:9:1"}}),
                    Catch::Contains("inject: found rank 9; expected one from 0 to "));
  if (job.size() == 1) return;
  user = line(job);
  if (job.rank() == 0) user.neighbours[0].send_count = 2;
  CHECK_THROWS_WITH(Iteration(job, user),
                    "iteration: found 2 values from rank 0 for rank 1; it expects 1");
}

}  // namespace
}  // namespace weft::tests
