#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "solver/interior/interior_lanczos.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tests/solver/eigen/kept_search.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"
#include "tests/support/shared_folder.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::Files;
using tests::Found;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::SharedFolder;

Found collective_search(MatrixSystem& system, const EigenOptions& options, const Files& files,
                        int steps) {
  return tests::collective_search(system, files, steps, [&](const SearchHooks& hooks) {
    return std::make_unique<InteriorLanczos>(system.op(), options, hooks);
  });
}

void check_continued(const Communicator& world, const ReferenceMatrix& matrix,
                     const EigenOptions& options, const std::vector<double>& parts) {
  const auto self = Communicator::self();
  MatrixSystem together(world, matrix);
  MatrixSystem alone(self, matrix, 1);
  tests::check_continued(world, together, alone, parts,
                         [&](MatrixSystem& system, spmv::Mode mode, const Files& files, int steps) {
                           EigenOptions in_mode = options;
                           in_mode.mode = mode;
                           return collective_search(system, in_mode, files, steps);
                         });
}

/// Many values between 0.49 and 0.51, more than an estimate can tell, and others elsewhere.
ReferenceMatrix with_dense_part() {
  ReferenceMatrix matrix(600);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto number = static_cast<double>(i);
    const double value = i < 60 ? 0.49 + 0.02 * number / 59 : -1 + 1.3 * (number - 60) / 539;
    matrix[i][static_cast<std::int64_t>(i)] = value;
  }
  return matrix;
}

TEST_CASE("a search near a number that was stopped continues anywhere with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("anderson3d:9,W=6"));
  check_continued(world, matrix, {.count = 6, .part = SpectrumPart::near, .sigma = 0.5},
                  {0, 0.3, 0.9});
  // Outside of the spectrum, where it is one from an end.
  check_continued(world, matrix, {.count = 6, .part = SpectrumPart::near, .sigma = 20}, {0.5});
}

TEST_CASE("a search in an interval that was stopped continues anywhere with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  check_continued(world, tests::reference_matrix(spmv::Problem::parse("poisson3d:8")),
                  {.interval = EnergyRange{3.01, 3.34}}, {0, 0.5, 0.95});
}

TEST_CASE("a search whose space becomes larger on the way continues with the bits of one run",
          "[collective]") {
  const auto world = Communicator::collective_world();
  check_continued(world, with_dense_part(), {.interval = EnergyRange{0.4, 0.6}}, {0.05, 0.5, 0.95});
}

TEST_CASE("a search that has restarted as often as it may continues with more restarts",
          "[collective]") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("anderson3d:9,W=6")));
  EigenOptions options{.count = 6, .part = SpectrumPart::near, .sigma = 0.5};
  options.max_restarts = 0;
  const SharedFolder folder(world);
  const std::string file = folder.file("state");
  const Found few = collective_search(system, options, {.path = file, .from = {}}, -1);
  CHECK(few.report.status == SolveStatus::not_converged);
  world.barrier();
  options.max_restarts = 100;
  const Found rest = collective_search(system, options, {.path = {}, .from = file}, -1);
  const Found expected = collective_search(system, options, {}, -1);
  CHECK(rest.report.status == SolveStatus::converged);
  CHECK(rest.report.products == expected.report.products);
  CHECK(rest.vectors == expected.vectors);
}

TEST_CASE("a checkpoint of a search elsewhere in the spectrum is refused", "[collective]") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tests::shifted_laplacian(20, 1.5));
  const SharedFolder folder(world);
  const std::string file = folder.file("state");
  const EigenOptions options{.count = 3, .part = SpectrumPart::near, .sigma = 2};
  collective_search(system, options, {.path = file, .from = {}}, 2);
  world.barrier();
  const Files from{.path = {}, .from = file};
  CHECK_NOTHROW(collective_search(system, options, from, 2));
  EigenOptions other = options;
  other.sigma = 2.5;
  CHECK_THROWS_AS(collective_search(system, other, from, 2), comm_thread::InputError);
  other = options;
  other.count = 4;
  CHECK_THROWS_AS(collective_search(system, other, from, 2), comm_thread::InputError);
  other = options;
  other.interval = EnergyRange{1.9, 2.1};
  CHECK_THROWS_AS(collective_search(system, other, from, 2), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
