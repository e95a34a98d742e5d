#include "solver/report/stop_rule.h"

#include <limits>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

TEST_CASE("as many iterations are expected as the residual takes at its rate so far") {
  const StopCriterion stop{.tolerance = 1e-8, .max_iterations = 1000};
  CHECK(stop.expected_iterations(10, 1e-4, 1) == 10);
  CHECK(stop.expected_iterations(10, 2e-2, 2) == 30);
  CHECK(stop.expected_iterations(10, 1e-9, 1) == 0);
  const StopCriterion absolute{.tolerance = 0, .max_iterations = 1000, .absolute_tolerance = 1e-6};
  CHECK(absolute.expected_iterations(10, 1e-3, 1) == 10);
}

TEST_CASE("up to the limit of iterations are expected where the residual falls slowly or rises") {
  const StopCriterion stop{.tolerance = 1e-8, .max_iterations = 1000};
  CHECK(stop.expected_iterations(10, 0.999, 1) == 990);
  CHECK(stop.expected_iterations(10, 1, 1) == 990);
  CHECK(stop.expected_iterations(10, 12, 1) == 990);
  CHECK(StopCriterion{.tolerance = 0, .max_iterations = 20}.expected_iterations(10, 0.5, 1) == 10);
}

TEST_CASE("an iteration ends a solve where its residual is small, too large or not finite") {
  const StopRule rule({.tolerance = 1e-4, .divergence = 1e3}, 2);
  CHECK(rule.status_at(1.9e-4) == SolveStatus::converged);
  CHECK(rule.status_at(2e-4) == SolveStatus::not_converged);
  CHECK(rule.status_at(0) == SolveStatus::converged);
  CHECK(rule.status_at(2e3) == SolveStatus::not_converged);
  CHECK(rule.status_at(2.1e3) == SolveStatus::diverged);
  CHECK(rule.status_at(std::numeric_limits<double>::quiet_NaN()) == SolveStatus::breakdown);
  CHECK(StopRule({.tolerance = 1e-4}, 2).status_at(std::numeric_limits<double>::infinity()) ==
        SolveStatus::breakdown);
  CHECK(rule.relative(1) == 0.5);
  CHECK(rule.wanted_square() == 2e-4 * 2e-4);
}

TEST_CASE("a solve begins converged where b is zero, and breaks down where its squares underflow") {
  CHECK(StopRule({}, 0).start(0).status == SolveStatus::converged);
  CHECK(StopRule({}, 0).start(1e-320).status == SolveStatus::breakdown);
  CHECK(StopRule({}, 1e-160).start(1e-319).status == SolveStatus::breakdown);
  CHECK(StopRule({}, 1e200).start(1e300).status == SolveStatus::breakdown);
  CHECK(StopRule({}, 1).start(2).status == SolveStatus::not_converged);
  CHECK(StopRule({.absolute_tolerance = 2}, 1).start(2).status == SolveStatus::converged);
}

TEST_CASE("a solve begins again from a true residual that is too large, as long as that gains") {
  const StopRule rule({.tolerance = 1e-4, .max_iterations = 100}, 1);
  SolveReport report;
  report.status = SolveStatus::converged;
  CHECK_FALSE(rule.must_begin_again(1.09e-4, report));
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual == 1.09e-4);
  CHECK(rule.must_begin_again(1e-2, report));
  CHECK(report.status == SolveStatus::not_converged);
  CHECK(report.restarts == 1);
  report.status = SolveStatus::converged;
  CHECK_FALSE(rule.must_begin_again(0.95e-2, report));
  CHECK(report.status == SolveStatus::not_converged);
  CHECK_FALSE(report.explanation.empty());
  CHECK(report.restarts == 1);
  report.status = SolveStatus::converged;
  report.iterations = 100;
  CHECK_FALSE(rule.must_begin_again(0.5e-2, report));
}

TEST_CASE("a solve that did not converge says where its residual rose") {
  SolveReport report;
  CHECK_FALSE(StopRule({}, 1).must_begin_again(3, report));
  CHECK(report.relative_residual == 3);
  CHECK_FALSE(report.explanation.empty());
}

}  // namespace
}  // namespace weft::solver
