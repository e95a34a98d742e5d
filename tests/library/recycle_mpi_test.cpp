#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

constexpr std::int64_t row_count = 5000;
constexpr int step_count = 12;

struct Step {
  std::int64_t iterations;
  double residual;
  std::string set_up;
  std::int64_t earlier_solutions;
  std::uint64_t hash;

  bool operator==(const Step&) const = default;
};

std::uint64_t collective_hash(const Job& job, const Matrix& a, const std::vector<double>& x) {
  std::uint64_t mine = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    mine += std::bit_cast<std::uint64_t>(x[i]) *
            (2 * static_cast<std::uint64_t>(a.global_row(static_cast<std::int64_t>(i))) + 1);
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, job.communicator());
  return all;
}

/// Steps in time: the diagonal grows a little, and right-hand sides move slowly, or, `is_wild`,
/// both jump. Begins with `first_step`; another solver goes on from `new_solver_at`.
struct Course {
  bool is_wild = false;
  double jump = 1;
  int first_step = 0;
  int new_solver_at = -1;
};

std::vector<Step> collective_run(const Job& job, Options options, const Course& course = {}) {
  TridiagonalRows rows(row_count, job.rank(), job.size());
  Matrix a = Matrix::from_rows(job, rows.rows());
  options.set("tolerance", 1e-9);
  auto solver = std::make_unique<Solver>(a, options);
  std::vector<Step> steps;
  std::vector<double> b(rows.count());
  std::vector<double> x(rows.count());
  for (int step = course.first_step; step < step_count; ++step) {
    const double time = course.is_wild ? 7.3 * step * step : 0.02 * step;
    const double diagonal = course.is_wild ? 5 + (step * 5 % 7) * (step % 2 == 0 ? 1 : 50)
                            : step < 8     ? 4.5 + 0.01 * step
                                           : course.jump * (4.5 + 0.01 * step);
    if (step > 0 || course.is_wild)
      a.update_values(TridiagonalRows(row_count, job.rank(), job.size(), diagonal).values);
    if (step > 0 && (step == course.first_step || step == course.new_solver_at))
      solver = std::make_unique<Solver>(a, options);
    for (std::size_t i = 0; i < b.size(); ++i) {
      const auto row = static_cast<double>(rows.first_row + static_cast<std::int64_t>(i));
      b[i] = 1 + std::sin(1e-3 * row + time);
    }
    const Report report = solver->solve(b, x);
    CHECK(report.converged());
    CHECK(report.relative_residual <= 1.1e-9);
    steps.push_back({report.iterations, report.relative_residual, report.set_up,
                     report.earlier_solutions, collective_hash(job, a, x)});
  }
  return steps;
}

std::int64_t iterations_of(const std::vector<Step>& steps) {
  std::int64_t all = 0;
  for (const Step& step : steps) all += step.iterations;
  return all;
}

const std::string amg = "amg:direct=10";

TEST_CASE("a sequence takes fewer iterations with what earlier solves have found") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  for (const std::string& preconditioner : {std::string("jacobi"), amg}) {
    const auto alone = collective_run(job, {{"preconditioner", preconditioner}});
    const auto recycled =
        collective_run(job, {{"preconditioner", preconditioner}, {"recycle", "auto"}});
    CAPTURE(preconditioner, iterations_of(alone), iterations_of(recycled));
    CHECK(10 * iterations_of(recycled) < 7 * iterations_of(alone));
    CHECK(alone.back().set_up.empty());
    CHECK(recycled.front().set_up == "made");
    CHECK(recycled[2].set_up == (preconditioner == amg ? "kept" : "new values"));
    CHECK(recycled[4].earlier_solutions > 1);
  }
}

TEST_CASE("the bits of a sequence do not depend on ranks and threads") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  const Job alone(MPI_COMM_SELF, {.threads = 1});
  for (const bool is_wild : {false, true})
    for (const std::string& method : {std::string("cg"), std::string("gmres")})
      for (const std::string& preconditioner : {std::string("none"), amg}) {
        CAPTURE(is_wild, method, preconditioner);
        const Options options{
            {"method", method}, {"preconditioner", preconditioner}, {"recycle", "auto"}};
        CHECK(collective_run(job, options, {.is_wild = is_wild}) ==
              collective_run(alone, options, {.is_wild = is_wild}));
      }
}

TEST_CASE("a sequence continues with the bits of one run where both make a new solver") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  const Job alone(MPI_COMM_SELF, {.threads = 1});
  const Options options{{"preconditioner", amg}, {"recycle", "auto"}};
  constexpr int stop = 5;
  const auto whole = collective_run(job, options, {.new_solver_at = stop});
  const auto continued = collective_run(alone, options, {.first_step = stop});
  REQUIRE(whole.size() == step_count);
  CHECK(std::vector<Step>(whole.begin() + stop, whole.end()) == continued);
  CHECK(whole[stop].set_up == "made");
  CHECK(whole[stop].earlier_solutions == 0);
  CHECK(whole[stop + 2].set_up == "kept");
}

TEST_CASE("values that jump are not solved with the old preconditioner") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  const auto steps =
      collective_run(job, {{"preconditioner", amg}, {"recycle", "auto"}}, {.jump = 1000});
  CHECK(steps[7].set_up == "kept");
  CHECK(steps[8].set_up != "kept");
  CHECK(steps[9].set_up == "kept");
  const auto wild =
      collective_run(job, {{"preconditioner", amg}, {"recycle", "auto"}}, {.is_wild = true});
  const auto each = collective_run(job, {{"preconditioner", amg}}, {.is_wild = true});
  REQUIRE(wild.size() == each.size());
  std::int64_t renewals = 0;
  for (std::size_t i = 0; i < wild.size(); ++i) {
    CAPTURE(i, wild[i].set_up);
    CHECK(wild[i].iterations <= 4 * each[i].iterations);
    if (wild[i].set_up != "kept") ++renewals;
  }
  // New values count as about nine iterations here, so that some are not worth it.
  CAPTURE(renewals, iterations_of(wild), iterations_of(each));
  CHECK(iterations_of(wild) + 9 * renewals <= iterations_of(each) + 9 * step_count);
}

TEST_CASE("a solve for the same right-hand side again takes no iteration") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  Solver solver(a, {{"preconditioner", amg}, {"recycle", "auto"}});
  const std::vector<double> b = a.right_hand_side("random:3");
  std::vector<double> x(b.size());
  CHECK(solver.solve(b, x).iterations > 0);
  const Report again = solver.solve(b, x);
  CHECK(again.iterations <= 1);
  CHECK(again.earlier_solutions == 1);
  CHECK(again.set_up == "kept");
  CHECK(again.json().find(R"("recycled":{"set_up":"kept","earlier_solutions":1)") !=
        std::string::npos);
  solver.renew_preconditioner();
  CHECK(solver.solve(b, x).set_up == "made");
}

TEST_CASE("recycling and reusing the preconditioner exclude each other") {
  const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  std::string fault;
  try {
    const Solver solver(a, {{"recycle", "auto"}, {"reuse-preconditioner", "true"}});
  } catch (const Error& error) {
    fault = error.what();
  }
  CHECK(fault ==
        "reuse-preconditioner: found with recycle=auto, which decides that; expected one of them");
}

}  // namespace
}  // namespace weft::tests
