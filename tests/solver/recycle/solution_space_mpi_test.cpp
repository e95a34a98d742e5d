#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/recycle/solution_space.h"
#include "spmv/modes/mode.h"
#include "tests/solver/amg/crew_system.h"
#include "tests/support/mpi_main.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::CrewSystem;

constexpr std::size_t row_count = 2197;
const std::string problem = "diffusion3d:13,lognormal:1";

/// Vectors that are smooth in `time`.
std::vector<double> at_time(double time) {
  std::vector<double> x;
  for (std::size_t i = 0; i < row_count; ++i)
    x.push_back(std::sin(0.01 * static_cast<double>(i) + time) +
                0.3 * std::cos(0.37 * static_cast<double>(i) * time));
  return x;
}

std::vector<double> multiply(CrewSystem& system, const std::vector<double>& x) {
  const auto operand = system.op().collective_make_operand();
  perfmodel::HugePageBuffer<double> y(x.size());
  perfmodel::PhaseTimer timer;
  system.team().run([&](const comm_thread::TeamThread& thread) {
    system.op().for_each_element(thread.index, [&](std::size_t i) { operand->values()[i] = x[i]; });
    system.op().apply(thread, spmv::Mode::vector, *operand, y.data(), timer, {});
  });
  return {y.data(), y.data() + x.size()};
}

/// Guesses for solutions at times 0, 0.1, …, of which the matrix gets other values after `most`.
std::vector<std::vector<double>> guesses(CrewSystem& system, bool is_symmetric, int most = 3) {
  SolutionSpace space(system.op(), spmv::Mode::task, most);
  std::vector<std::vector<double>> all;
  for (int step = 0; step < most + 3; ++step) {
    const std::vector<double> x = system.own(at_time(0.1 * step));
    if (step == most) {
      system.change_values([](std::int64_t row, std::int64_t column, double value) {
        return row == column ? 1.5 * value : value;
      });
      space.forget_products();
    }
    const std::vector<double> b = multiply(system, x);
    std::vector<double> guess(x.size());
    if (space.collective_guess(b, {}, most, is_symmetric, guess)) all.push_back(guess);
    space.collective_take(x);
  }
  return all;
}

double error(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("guesses of earlier solutions have the same bits on any ranks and threads") {
  for (const bool is_symmetric : {true, false})
    for (const int most : {3, 15}) {  // 15: products of 8, 4 and 2 vectors at once, and of one
      CrewSystem system(Communicator::collective_world(), problem);
      CrewSystem alone(Communicator::self(), problem, 1);
      const auto found = guesses(system, is_symmetric, most);
      const auto expected = guesses(alone, is_symmetric, most);
      CHECK(static_cast<int>(found.size()) == most + 2);
      for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
        CHECK(found[i] == system.own(expected[i]));
    }
}

TEST_CASE("guesses of many vectors are solutions of matrices that have changed") {
  CrewSystem system(Communicator::collective_world(), problem);
  SolutionSpace space(system.op(), spmv::Mode::task, 7);
  std::vector<double> x;
  for (int step = 0; step < 7; ++step) {
    x = system.own(at_time(0.7 * step));
    space.collective_take(x);
  }
  space.forget_products();
  system.change_values([](std::int64_t row, std::int64_t column, double value) {
    return row == column ? 1.5 * value : value;
  });
  const auto other = system.own(at_time(0.7));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 0.5 * other[i];
  std::vector<double> guess(x.size());
  CHECK(space.collective_guess(multiply(system, x), {}, 7, true, guess));
  CHECK(error(guess, x) < 1e-8);
}

TEST_CASE("a guess is the solution where earlier ones span it") {
  CrewSystem system(Communicator::collective_world(), problem);
  SolutionSpace space(system.op(), spmv::Mode::task, 3);
  const auto first = system.own(at_time(0.5));
  const auto second = system.own(at_time(2));
  std::vector<double> x(first.size());
  std::vector<double> guess(first.size());
  CHECK_FALSE(space.collective_guess(multiply(system, first), {}, 3, true, guess));
  space.collective_judge(multiply(system, first), first);
  CHECK(space.digits().empty());
  space.collective_take(first);
  space.collective_take(second);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * first[i] - 3 * second[i];
  const auto b = multiply(system, x);
  for (const bool is_symmetric : {true, false}) {
    CHECK(space.collective_guess(b, {}, 3, is_symmetric, guess));
    CHECK(error(guess, x) < 1e-10);
  }
  // The first difference alone leaves much; both leave nothing.
  space.collective_judge(b, x);
  CHECK(space.digits().size() == 2);
  CHECK(space.digits()[0] < 1);
  CHECK(space.digits()[1] > 6);
  // Another guess counts, too, unless it is the last solution.
  const auto other = system.own(at_time(7));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = first[i] + other[i];
  CHECK(space.collective_guess(multiply(system, x), other, 2, true, guess));
  CHECK(error(guess, x) < 1e-10);
  space.keep(0);
  CHECK(space.size() == 0);
  CHECK_FALSE(space.collective_guess(b, {}, 3, true, guess));
}

}  // namespace weft::solver
