#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/eigen/both_ends.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "solver/eigen/search_keeper.h"
#include "solver/eigen/two_pass_lanczos.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/modes/mode.h"
#include "tests/solver/eigen/kept_search.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"
#include "tests/support/shared_folder.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::check_continued;
using tests::collective_search;
using tests::Files;
using tests::Found;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::SharedFolder;

TEST_CASE("a search by lanczos that was stopped continues anywhere with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(24, 2.5);
  MatrixSystem together(world, matrix);
  MatrixSystem alone(self, matrix, 1);
  // In the first search space, at its end, and in a later one.
  check_continued(world, together, alone, {0, 0.4, 0.8},
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
    check_continued(world, together, alone, {0.2, 0.7},
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

TEST_CASE("a search from both ends that was stopped in either half continues with the bits of one",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(24, 2.5);
  MatrixSystem together(world, matrix);
  MatrixSystem alone(self, matrix, 1);
  const std::vector<Found> begun = check_continued(
      world, together, alone, {0.2, 0.75},
      [](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps) {
        return collective_search(system, files, steps, [&](const SearchHooks& hooks) {
          return std::make_unique<BothEnds>(
              system.op(), EigenOptions{.count = 7, .part = SpectrumPart::both, .mode = mode},
              hooks);
        });
      });
  CHECK(begun[0].report.pairs.size() < 3);  // in the first half
  CHECK(begun[1].report.pairs.size() >= 3);  // in the second
}

TEST_CASE("a search in two passes that was stopped in either continues with the bits of one",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(24, 2.5);
  MatrixSystem together(world, matrix);
  MatrixSystem alone(self, matrix, 1);
  const auto search = [](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps,
                         int most) {
    return collective_search(system, files, steps, [&](const SearchHooks& hooks) {
      return std::make_unique<TwoPassLanczos>(
          system.op(), EigenOptions{.max_iterations = most, .mode = mode}, hooks);
    });
  };
  check_continued(world, together, alone, {0, 0.3, 0.6, 0.9},
                  [&](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps) {
                    return search(system, mode, files, steps, 500);
                  });
  // Where steps do not suffice, the state is that of the first pass, which can go on.
  const SharedFolder folder(world);
  const std::string file = folder.file("state");
  const Found few = search(together, spmv::Mode::task, {.path = file, .from = {}}, -1, 5);
  CHECK(few.report.status == SolveStatus::not_converged);
  world.barrier();
  const Found rest = search(together, spmv::Mode::task, {.path = {}, .from = file}, -1, 500);
  check_same(together, rest, search(alone, spmv::Mode::task, {}, -1, 500));
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
  const auto two_passes = [&](const SearchHooks& hooks) {
    return std::make_unique<TwoPassLanczos>(system.op(), EigenOptions{}, hooks);
  };
  CHECK_THROWS_AS(collective_search(system, from, 2, two_passes), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
