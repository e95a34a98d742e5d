#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/eigen/both_ends.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "solver/eigen/two_pass_lanczos.h"
#include "spmv/modes/mode.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/shared_folder.h"

// Searches for eigenvalues that are stopped and continue from a checkpoint.

namespace weft::tests {

/// What a search has found.
struct Found {
  solver::EigenReport report;
  std::vector<std::vector<double>> vectors;  // of this rank's rows
  solver::Checkpoints::Report checkpoints;
  int steps = 0;  // after which it asked whether it is to end
};

struct Files {
  std::string path{};
  std::string from{};
};

template <class Search>
std::vector<double> collective_vector(const Search& search, int number) {
  return search.collective_vector(number);
}
inline std::vector<double> collective_vector(const solver::BothEnds& search, int number) {
  return search.vector(number);
}
inline std::vector<double> collective_vector(const solver::TwoPassLanczos& search, int /*number*/) {
  return search.collective_vector();
}

/// Searches for what `make(hooks)` looks for, and ends after `most_steps` where that is not
/// negative. Collective.
template <class Make>
Found collective_search(MatrixSystem& system, const Files& files, int most_steps,
                        const Make& make) {
  solver::Checkpoints checkpoints(system.communicator(), system.comm_thread(),
                                  {.path = files.path, .from = files.from, .every_iterations = 16});
  Found found;
  const solver::SearchHooks hooks{.stops = [&] { return found.steps++ == most_steps; },
                                  .checkpoints = &checkpoints};
  const auto search = make(hooks);
  found.report = search->collective_solve();
  for (std::size_t i = 0; i < found.report.pairs.size(); ++i)
    found.vectors.push_back(collective_vector(*search, static_cast<int>(i)));
  checkpoints.close();
  found.checkpoints = checkpoints.report();
  return found;
}

/// `expected` is of one rank.
inline void check_same(const MatrixSystem& system, const Found& found, const Found& expected) {
  CHECK(found.report.status == expected.report.status);
  CHECK(found.report.products == expected.report.products);
  CHECK(found.report.restarts == expected.report.restarts);
  CHECK(found.report.degree == expected.report.degree);
  CHECK(found.report.pairs.size() == expected.report.pairs.size());
  CHECK(found.report.completeness.is_shown == expected.report.completeness.is_shown);
  for (std::size_t i = 0; i < expected.report.pairs.size(); ++i) {
    CHECK(found.report.pairs[i].value == expected.report.pairs[i].value);
    CHECK(found.report.pairs[i].residual == expected.report.pairs[i].residual);
    CHECK(found.report.pairs[i].error_bound == expected.report.pairs[i].error_bound);
    CHECK(found.vectors[i] == system.part_of(expected.vectors[i]));
  }
}

/// Checks a search that is stopped after some steps, on all ranks and on one, and continued on the
/// others. Returns what it has found when it was stopped. `search(system, mode, files, steps)`: as
/// above.
template <class Search>
Found check_continued_from(const comm_thread::Communicator& world, MatrixSystem& together,
                           MatrixSystem& alone, int cut, const Found& expected,
                           const Search& search) {
  using spmv::Mode;
  CAPTURE(cut);
  const SharedFolder folder(world);
  const Files first{.path = folder.file("together"), .from = {}};
  const Found begun = search(together, Mode::task, first, cut);
  CHECK(begun.report.status == solver::SolveStatus::stopped);
  CHECK(begun.checkpoints.failed == 0);
  CHECK(begun.checkpoints.written >= 1);
  for (const solver::EigenPair& pair : begun.report.pairs)
    CHECK(pair.residual <= 1e-8 * begun.report.norm);
  CHECK(begun.report.pairs.size() <= expected.report.pairs.size());
  world.barrier();
  const Files second{.path = {}, .from = folder.file("together")};
  const Found apart = search(alone, Mode::overlap, second, -1);
  CHECK(apart.checkpoints.first_iteration == begun.checkpoints.last_iteration);
  check_same(alone, apart, expected);
  check_same(together, search(together, Mode::vector, second, -1), expected);

  const Files other{.path = folder.file("alone"), .from = {}};
  if (world.is_root()) search(alone, Mode::vector, other, cut);
  world.barrier();
  const Files last{.path = {}, .from = folder.file("alone")};
  check_same(together, search(together, Mode::task, last, -1), expected);
  return begun;
}

/// The same of several cuts, as parts of all steps.
template <class Search>
std::vector<Found> check_continued(const comm_thread::Communicator& world, MatrixSystem& together,
                                   MatrixSystem& alone, const std::vector<double>& parts,
                                   const Search& search) {
  const Found expected = search(alone, spmv::Mode::vector, Files{}, -1);
  CHECK(expected.report.status == solver::SolveStatus::converged);
  std::vector<Found> begun;
  for (const double part : parts)
    begun.push_back(check_continued_from(
        world, together, alone, static_cast<int>(part * expected.steps), expected, search));
  return begun;
}

}  // namespace weft::tests
