#include "solver/tiles/schwarz_problem.h"

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/random_numbers.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;
using spmv::GlobalIndex;
using spmv::RightHandSideKind;

constexpr int most_subdomains_per_side = 8192;
constexpr int most_points_per_side = 8192;

void check_range(const char* what, int found, int least, int most) {
  if (found < least || found > most)
    throw InputError(
        fmt::format("{}: found {}; expected a number from {} to {}", what, found, least, most));
}

}  // namespace

double SchwarzProblem::source(GlobalIndex x, GlobalIndex y) const {
  const GlobalIndex side = grid_side();
  const auto random = [&](GlobalIndex column, GlobalIndex row) {
    const bool is_inside = column >= 0 && column < side && row >= 0 && row < side;
    return is_inside ? spmv::uniform(right_hand_side.seed, row * side + column) : 0.0;
  };
  switch (right_hand_side.kind) {
    case RightHandSideKind::boundary_one:
      return double(x == 0) + double(x == side - 1) + double(y == 0) + double(y == side - 1);
    case RightHandSideKind::random:
      return random(x, y);
    case RightHandSideKind::x_random:
      return -random(x, y - 1) - random(x - 1, y) + 4 * random(x, y) - random(x + 1, y) -
             random(x, y + 1);
    case RightHandSideKind::ones:
    case RightHandSideKind::file:
      break;
  }
  return 1;
}

void check(const SchwarzProblem& problem) {
  check_range("subdomains per side", problem.tiles_per_side, 1, most_subdomains_per_side);
  check_range("points per side", problem.points_per_side, 1, most_points_per_side);
  check_range("overlap", problem.overlap, 0, most_points_per_side);
  if (problem.tiles_per_side > 1 && problem.overlap >= problem.points_per_side)
    throw InputError(
        fmt::format("overlap: found {} with {} points per side; expected less, so that a subdomain "
                    "stays within its neighbours",
                    problem.overlap, problem.points_per_side));
  if (!(problem.alpha > 0))
    throw InputError(fmt::format("alpha: found {}; expected a number above 0", problem.alpha));
  if (problem.right_hand_side.kind == RightHandSideKind::file)
    throw InputError(
        "right-hand side: found a file; expected ones, boundary-one, random:SEED or "
        "x-random:SEED");
}

}  // namespace weft::solver
