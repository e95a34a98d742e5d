#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "solver/eigen/search_keeper.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/modes/mode.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"
#include "tests/support/shared_folder.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::SharedFolder;

/// What a search has found.
struct Found {
  EigenReport report;
  std::vector<std::vector<double>> vectors;  // of this rank's rows
  Checkpoints::Report checkpoints;
};

struct Files {
  std::string path{};
  std::string from{};
};

/// Searches for what `make(hooks)` looks for, and ends after `most_steps` where that is not
/// negative. Collective.
template <class Make>
Found collective_search(MatrixSystem& system, const Files& files, int most_steps,
                        const Make& make) {
  Checkpoints checkpoints(system.communicator(), system.comm_thread(),
                          {.path = files.path, .from = files.from, .every_iterations = 16});
  SearchHooks hooks{.stops = {}, .checkpoints = &checkpoints};
  if (most_steps >= 0) hooks.stops = [&most_steps] { return --most_steps < 0; };
  const auto search = make(hooks);
  Found found{.report = search->collective_solve(), .vectors = {}, .checkpoints = {}};
  for (std::size_t i = 0; i < found.report.pairs.size(); ++i)
    found.vectors.push_back(search->collective_vector(static_cast<int>(i)));
  checkpoints.close();
  found.checkpoints = checkpoints.report();
  return found;
}

/// `expected` is of one rank.
void check_same(const MatrixSystem& system, const Found& found, const Found& expected) {
  CHECK(found.report.status == expected.report.status);
  CHECK(found.report.products == expected.report.products);
  CHECK(found.report.restarts == expected.report.restarts);
  CHECK(found.report.degree == expected.report.degree);
  CHECK(found.report.pairs.size() == expected.report.pairs.size());
  for (std::size_t i = 0; i < expected.report.pairs.size(); ++i) {
    CHECK(found.report.pairs[i].value == expected.report.pairs[i].value);
    CHECK(found.report.pairs[i].residual == expected.report.pairs[i].residual);
    CHECK(found.vectors[i] == system.part_of(expected.vectors[i]));
  }
}

/// Checks searches that are stopped after some steps, on all ranks and on one, and continued on the
/// others. `search(system, mode, files, steps)`: as above.
template <class Search>
void check_continued(const Communicator& world, MatrixSystem& together, MatrixSystem& alone,
                     const std::vector<int>& cuts, const Search& search) {
  using spmv::Mode;
  const SharedFolder folder(world);
  const Found expected = search(alone, Mode::vector, Files{}, -1);
  CHECK(expected.report.status == SolveStatus::converged);
  for (const int cut : cuts) {
    CAPTURE(cut);
    const Files first{.path = folder.file("together"), .from = {}};
    const Found begun = search(together, Mode::task, first, cut);
    CHECK(begun.report.status == SolveStatus::stopped);
    CHECK(begun.checkpoints.failed == 0);
    CHECK(begun.checkpoints.written >= 1);
    for (const EigenPair& pair : begun.report.pairs)
      CHECK(pair.residual <= 1e-8 * begun.report.norm);
    CHECK(begun.report.pairs.size() < 6);
    world.barrier();
    const Files second{.path = {}, .from = folder.file("together")};
    const Found apart = search(alone, Mode::overlap, second, -1);
    CHECK(apart.checkpoints.first_iteration == cut + 1);
    check_same(alone, apart, expected);
    check_same(together, search(together, Mode::vector, second, -1), expected);

    const Files other{.path = folder.file("alone"), .from = {}};
    if (world.is_root()) search(alone, Mode::vector, other, cut);
    world.barrier();
    const Files last{.path = {}, .from = folder.file("alone")};
    check_same(together, search(together, Mode::task, last, -1), expected);
  }
}

TEST_CASE("a search by lanczos that was stopped continues anywhere with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(24, 2.5);
  MatrixSystem together(world, matrix);
  MatrixSystem alone(self, matrix, 1);
  // In the first search space, at its end, and in a later one.
  check_continued(world, together, alone, {0, 9, 17},
                  [](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps) {
                    return collective_search(system, files, steps, [&](const SearchHooks& hooks) {
                      return std::make_unique<FilteredLanczos>(
                          system.op(), EigenOptions{.count = 6, .mode = mode}, hooks);
                    });
                  });
}

TEST_CASE("a search by lobpcg that was stopped continues anywhere with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(20, -0.1);
  ReferenceMatrix mass(matrix.size());
  for (std::size_t i = 0; i < mass.size(); ++i)
    mass[i][static_cast<std::int64_t>(i)] = 1 + static_cast<double>(i % 5);
  for (const bool has_mass : {false, true}) {
    MatrixSystem together(world, matrix);
    MatrixSystem mass_together(world, mass);
    MatrixSystem alone(self, matrix, 1);
    MatrixSystem mass_alone(self, mass, 1);
    DiagonalPreconditioner m_together(together.op());
    DiagonalPreconditioner m_alone(alone.op());
    check_continued(world, together, alone, {7, 26},
                    [&](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps) {
                      const bool is_alone = &system == &alone;
                      spmv::SparseOperator* const b =
                          has_mass ? &(is_alone ? mass_alone : mass_together).op() : nullptr;
                      DiagonalPreconditioner& m = is_alone ? m_alone : m_together;
                      return collective_search(system, files, steps, [&](const SearchHooks& hooks) {
                        return std::make_unique<Lobpcg>(
                            system.op(), b, &m, EigenOptions{.count = 6, .mode = mode}, hooks);
                      });
                    });
  }
}

TEST_CASE("a checkpoint of another search is refused", "[collective]") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  MatrixSystem system(world, tests::shifted_laplacian(20, 1.5));
  MatrixSystem other(world, tests::shifted_laplacian(20, 1.25));
  const std::string file = folder.file("state");
  const auto search = [&](MatrixSystem& of, const EigenOptions& options, const Files& files) {
    return collective_search(of, files, 2, [&](const SearchHooks& hooks) {
      return std::make_unique<FilteredLanczos>(of.op(), options, hooks);
    });
  };
  search(system, {.count = 3}, {.path = file, .from = {}});
  world.barrier();
  const Files from{.path = {}, .from = file};
  CHECK_THROWS_AS(search(other, {.count = 3}, from), comm_thread::InputError);
  CHECK_THROWS_AS(search(system, {.count = 4}, from), comm_thread::InputError);
  CHECK_THROWS_AS(search(system, {.count = 3, .end = SpectrumEnd::largest}, from),
                  comm_thread::InputError);
  CHECK_NOTHROW(search(system, {.count = 3, .tolerance = 1e-10}, from));
}

}  // namespace
}  // namespace weft::solver
