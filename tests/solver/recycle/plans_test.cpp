#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/recycle/guess_plan.h"
#include "solver/recycle/set_up_plan.h"

namespace weft::solver {
namespace {

/// Iterations of a sequence in which values change by the factor `step` from solve to solve, as a
/// preconditioner of values that differ by `spread` takes them, and what the plan chose.
struct Played {
  double cost = 0;
  int kept = 0;
  int new_values = 0;
  int made = 0;
};

Played play(double step, int solves, const SetUpPlan::Costs& costs) {
  SetUpPlan plan;
  plan.begin(SetUp::made, 1, costs);
  Played played;
  double spread = 1;
  for (int i = 0; i < solves; ++i) {
    if (i > 0) {
      spread *= step;
      const SetUp chosen = plan.choose(spread);
      plan.begin(chosen, spread, costs);
      played.cost += chosen == SetUp::made         ? costs.made
                     : chosen == SetUp::new_values ? costs.new_values
                                                   : 0;
      ++(chosen == SetUp::kept         ? played.kept
         : chosen == SetUp::new_values ? played.new_values
                                       : played.made);
      if (chosen != SetUp::kept) spread = 1;
    }
    const double iterations = std::ceil(10 * std::pow(spread, 0.4));
    plan.end(static_cast<std::int64_t>(iterations), 8);
    played.cost += iterations;
  }
  return played;
}

}  // namespace

TEST_CASE("a preconditioner is kept for values that hardly change, and renewed in time") {
  const SetUpPlan::Costs costs{.new_values = 5, .made = 12};
  const Played slow = play(1.03, 100, costs);
  CHECK(slow.kept >= 75);
  CHECK(slow.new_values > 3);
  CHECK(slow.made == 0);
  // Less than always or never new values: 15 a solve, or 10·1.03^(0.4·i).
  CHECK(slow.cost < 12.5 * 100);
}

TEST_CASE("values of another kind in each solve get new ones each time") {
  const SetUpPlan::Costs costs{.new_values = 5, .made = 12};
  const Played fast = play(100, 20, costs);
  CHECK(fast.kept == 0);
  CHECK(fast.new_values == 19);
  SetUpPlan plan;
  plan.begin(SetUp::made, 1, costs);
  plan.end(10, 8);
  CHECK(plan.choose(std::numeric_limits<double>::infinity()) == SetUp::new_values);
  CHECK(plan.choose(1) == SetUp::kept);
}

/// Solves before which the plan looks at values that have nothing in common, but for those of
/// `like_before`, which have not changed much.
std::vector<int> solves_with_looks(int solves, int like_before) {
  const SetUpPlan::Costs costs{.new_values = 14, .made = 40};
  SetUpPlan plan;
  plan.begin(SetUp::made, 1, costs);
  plan.end(10, 8);
  std::vector<int> looked;
  for (int solve = 1; solve < solves; ++solve) {
    const bool looks = plan.looks();
    if (looks) looked.push_back(solve);
    const double spread = !looks                 ? std::numeric_limits<double>::infinity()
                          : solve == like_before ? 1.01
                                                 : 1000;
    const SetUp chosen = plan.choose(spread);
    CHECK(chosen == (looks && solve == like_before ? SetUp::kept : SetUp::new_values));
    plan.begin(chosen, spread, costs);
    plan.end(10, 8);
  }
  return looked;
}

TEST_CASE("a plan that has renewed five times in turn looks rarely") {
  CHECK(solves_with_looks(60, -1) == std::vector<int>{1, 2, 3, 4, 5, 8, 13, 22, 39, 56});
  CHECK(solves_with_looks(18, 8) == std::vector<int>{1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 17});
}

TEST_CASE("a change that rows do not show is noticed by its iterations") {
  const SetUpPlan::Costs costs{.new_values = 5, .made = 12};
  SetUpPlan plan;
  plan.begin(SetUp::made, 1, costs);
  plan.end(10, 8);
  CHECK(plan.choose(1) == SetUp::kept);
  plan.begin(SetUp::kept, 1, costs);
  plan.end(40, 8);
  CHECK(plan.choose(1) == SetUp::new_values);
  plan.begin(SetUp::new_values, 1, costs);
  plan.end(10, 8);
  CHECK(plan.choose(1) == SetUp::new_values);  // it has been surprised
}

TEST_CASE("a spread that is far beyond those that were tried counts as the condition may grow") {
  const SetUpPlan::Costs costs{.new_values = 14, .made = 40};
  SetUpPlan plan;
  plan.begin(SetUp::made, 1, costs);
  plan.end(10, 8);
  for (const double spread : {1.5, 2.0, 2.5}) {
    CHECK(plan.choose(spread) == SetUp::kept);
    plan.begin(SetUp::kept, spread, costs);
    plan.end(10, 8);  // as if it did not matter
  }
  CHECK(plan.choose(3) == SetUp::kept);
  CHECK(plan.choose(1000) == SetUp::new_values);
}

/// Solves from one set-up anew to the next. `iterations`: of a solve with new values, by the number
/// of solves since the aggregates were made.
template <class Iterations>
std::vector<int> solves_between_set_ups(int solves, const Iterations& iterations) {
  const SetUpPlan::Costs costs{.new_values = 14, .made = 40};
  SetUpPlan plan;
  std::vector<int> between;
  SetUp chosen = SetUp::made;
  int age = 0;
  for (int solve = 0; solve < solves; ++solve) {
    if (solve > 0) chosen = plan.choose(1000);
    if (solve > 0 && chosen == SetUp::made) between.push_back(std::exchange(age, 0));
    plan.begin(chosen, 1000, costs);
    plan.end(iterations(age), 8);
    ++age;
  }
  return between;
}

TEST_CASE("aggregates of older values are made anew where that pays") {
  // One iteration more for each solve: the root of 2·26 would be best, and half as many again cost
  // 8 % more.
  const auto growing = solves_between_set_ups(60, [](int age) { return 20 + age; });
  CHECK(growing.size() >= 5);
  for (const int solves : growing) CHECK((solves >= 7 && solves <= 11));
  // Good for five solves only, which is less than they cost, or for twenty.
  for (const int good : {5, 20}) {
    CAPTURE(good);
    const auto found = solves_between_set_ups(100, [&](int age) { return age < good ? 12 : 15; });
    CHECK(found.empty() == (good == 5));
    for (const int solves : found) CHECK((solves > good && solves < good + 12));
  }
  // No better at any time; and harder matrices by turns with easier ones.
  CHECK(solves_between_set_ups(200, [](int age) { return age == 0 ? 13 : 17; }).empty());
  CHECK(solves_between_set_ups(200, [](int age) { return age % 2 == 0 ? 13 : 17; }).empty());
}

TEST_CASE("a guess takes as many solutions as save iterations") {
  GuessPlan plan(8);
  CHECK(plan.count() == 2);
  plan.note(std::vector<double>{1, 1}, 1, {.of_vector = 0.5});
  CHECK(plan.count() == 3);
  plan.note(std::vector<double>{1, 1, 0.7}, 1, {.of_vector = 0.5});
  CHECK(plan.count() == 4);
  plan.note(std::vector<double>{1, 1, 0.7, 0.1}, 1, {.of_vector = 0.5});
  CHECK(plan.count() == 4);
  plan.note(std::vector<double>{1, 0.1, 0.1, 0.1}, 1, {.of_vector = 0.5});
  CHECK(plan.count() == 2);
  CHECK(plan.wanted() == 2);
}

TEST_CASE("vectors of a guess must save together what it costs") {
  const GuessPlan::Costs costs{.of_vector = 0.3, .of_guess = 1.5};
  GuessPlan plan(8);
  plan.note(std::vector<double>{0.8}, 1, costs);  // there are no more vectors yet
  CHECK(plan.count() == 2);
  plan.note(std::vector<double>{1.5, 0.8}, 1, costs);
  CHECK(plan.count() == 3);
  plan.note(std::vector<double>{0.8, 0.8, 0.4}, 1, costs);
  CHECK(plan.count() == 0);
}

/// Solves for which the plan guesses, where each guess of two vectors costs two iterations in vain.
std::vector<int> solves_with_guesses(int solves, double iterations) {
  const GuessPlan::Costs costs{.of_vector = 0.5, .of_guess = 1, .of_solve = iterations};
  GuessPlan plan(8);
  std::vector<int> tried;
  for (int solve = 0; solve < solves; ++solve) {
    if (plan.count() > 0) {
      tried.push_back(solve);
      CHECK(plan.wanted() == 2);
      plan.note(std::vector<double>{0.0, 0.0}, 1, costs);
    } else {
      plan.note({}, 1, costs);
    }
  }
  return tried;
}

TEST_CASE("where guesses gain nothing, they come as rarely as their loss asks for") {
  CHECK(solves_with_guesses(20, 100) == std::vector<int>{0, 3, 6, 9, 12, 15, 18});
  CHECK(solves_with_guesses(20, 10) == std::vector<int>{0, 4, 8, 12, 16});  // 2 of 40 iterations
  CHECK(solves_with_guesses(45, 2) == std::vector<int>{0, 20, 40});
  CHECK(solves_with_guesses(70, 0) == std::vector<int>{0, 32, 64});
}

TEST_CASE("solutions are taken for the guesses to come only") {
  GuessPlan plan(8);
  plan.note(std::vector<double>{0.0, 0.0}, 1, {.of_guess = 2, .of_solve = 10});
  for (const int wanted : {0, 0, 2, 2}) {  // after which the next guess has two
    CHECK(plan.wanted() == wanted);
    plan.note({}, 1, {});
  }
}

}  // namespace weft::solver
