// A matrix whose lowest values a random vector takes to be many more than they are.
#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/panels/lanczos_recurrence.h"
#include "spmv/problems/random_numbers.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

constexpr Eigen::Index rows = 400;

/// The vector that the search begins its look at the spectrum with.
Eigen::VectorXd first_vector() {
  return Eigen::VectorXd::NullaryExpr(
             rows,
             [](Eigen::Index row) {
               return 2 * spmv::uniform(std::uint64_t{LanczosRecurrence::random_column}, row) - 1;
             })
      .normalized();
}

/// A matrix of these values, of whose first `count` vectors the first vector has most.
ReferenceMatrix matrix_of(const Eigen::VectorXd& values, Eigen::Index count) {
  Eigen::setNbThreads(1);  // its products have other bits with other numbers of threads
  std::mt19937 random(5);
  const Eigen::MatrixXd any = Eigen::MatrixXd::NullaryExpr(
      rows, rows, [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; });
  const Eigen::MatrixXd start = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
  Eigen::VectorXd parts = Eigen::VectorXd::Constant(rows, 0.1);
  parts.head(count).setConstant(3);
  const Eigen::VectorXd from = start * parts.normalized();
  const Eigen::VectorXd mirror = (from - first_vector()).normalized();
  const Eigen::MatrixXd vectors = start - 2 * mirror * (mirror.transpose() * start);
  const Eigen::MatrixXd dense = vectors * values.asDiagonal() * vectors.transpose();
  ReferenceMatrix matrix(static_cast<std::size_t>(rows));
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < rows; ++j)
      matrix[static_cast<std::size_t>(i)][j] = (dense(i, j) + dense(j, i)) / 2;
  return matrix;
}

TEST_CASE("a filter that was taken too narrow is replaced by a wider one", "[collective]") {
  const auto& world = Communicator::collective_world();
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(rows, -1, 1);
  MatrixSystem system(world, matrix_of(values, 10));
  FilteredLanczos lanczos(system.op(), {.count = 10});
  const EigenReport report = lanczos.collective_solve();
  CHECK(report.status == SolveStatus::converged);
  INFO(report.restarts << " restarts, " << report.products << " products");
  CHECK(report.restarts < 20);  // 12; without a wider filter 100, and no end
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(std::abs(report.pairs[i].value - values(static_cast<Eigen::Index>(i))) < 1e-7);
}

}  // namespace
}  // namespace weft::solver
