#include "library/solve/least_solution.h"

#include <limits>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/report/solve_report.h"

namespace weft::library {
namespace {

using solver::SolveReport;
using solver::SolveStatus;

SolveReport report_with(double residual, const char* explanation = "") {
  SolveReport report;
  report.status = SolveStatus::not_converged;
  report.relative_residual = residual;
  report.recurrence_residual = residual / 2;
  report.explanation = explanation;
  return report;
}

const std::vector<double> first{1, 2};
const std::vector<double> second{3, 4};

TEST_CASE("of solutions that have not converged the one with the least residual is kept") {
  LeastSolution least;
  CHECK(!least.is_kept());
  least.offer(first, report_with(1e-3, "stalled"), "cg with amg");
  least.offer(second, report_with(1e-2), "cg with jacobi");
  SolveReport last = report_with(0.5, "the last");
  last.iterations = 7;
  CHECK(least.take_place_in(last) ==
        "the solution of cg with amg is kept: its residual of 1.0e-03 is the least");
  CHECK(least.is_kept());
  CHECK(std::vector<double>(least.x().begin(), least.x().end()) == first);
  CHECK(last.relative_residual == 1e-3);
  CHECK(last.recurrence_residual == 5e-4);
  CHECK(last.explanation == "stalled");
  CHECK(last.iterations == 7);
  least.clear();
  CHECK(!least.is_kept());
  CHECK(least.take_place_in(last) == "");
}

TEST_CASE("a last solution that is as good, or has converged, is the solution") {
  LeastSolution least;
  least.offer(first, report_with(1e-3), "a");
  SolveReport as_good = report_with(1e-3, "the last");
  CHECK(least.take_place_in(as_good) == "");
  CHECK(!least.is_kept());
  CHECK(as_good.explanation == "the last");

  least.offer(first, report_with(1e-9), "a");
  SolveReport converged = report_with(1e-8);
  converged.status = SolveStatus::converged;
  CHECK(least.take_place_in(converged) == "");
  CHECK(!least.is_kept());
}

TEST_CASE("rows of another scale count, and a residual that is no number is never kept") {
  LeastSolution least;
  for (const double residual :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    least.offer(first, report_with(residual), "a");
    CHECK(!least.is_kept());
  }
  SolveReport of_rows = report_with(1e-9);
  of_rows.scaled_residual = 0.5;
  least.offer(first, of_rows, "a");
  least.offer(second, report_with(1e-2), "b");
  SolveReport last = report_with(std::numeric_limits<double>::infinity());
  last.status = SolveStatus::out_of_time;
  last.explanation = "time is over";
  CHECK(least.take_place_in(last) ==
        "the solution of b is kept: its residual of 1.0e-02 is the least");
  // What has ended all methods is said of the last one.
  CHECK(last.status == SolveStatus::out_of_time);
  CHECK(last.explanation == "time is over");
  CHECK(last.relative_residual == 1e-2);
}

}  // namespace
}  // namespace weft::library
