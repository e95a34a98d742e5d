#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/modes/mode.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;
using Form = IsaiPreconditioner::Form;

/// This rank's part of M·r.
Vector apply(MatrixSystem& system, const IsaiPreconditioner::Options& options, const Vector& r) {
  IsaiPreconditioner inverse(system.op(), options);
  const Vector own = system.part_of(r);
  perfmodel::HugePageBuffer<double> z(own.size());
  system.op().team().run(
      [&](const TeamThread& thread) { inverse.apply(thread, own.data(), z.data()); });
  return {z.span().begin(), z.span().end()};
}

/// M by columns, on one rank.
std::vector<Vector> columns(MatrixSystem& system, Form form, std::size_t size) {
  IsaiPreconditioner inverse(system.op(), {.form = form});
  std::vector<Vector> result;
  for (std::size_t j = 0; j < size; ++j) {
    Vector unit(size);
    unit[j] = 1;
    perfmodel::HugePageBuffer<double> z(size);
    system.op().team().run(
        [&](const TeamThread& thread) { inverse.apply(thread, unit.data(), z.data()); });
    result.emplace_back(z.span().begin(), z.span().end());
  }
  return result;
}

}  // namespace

TEST_CASE("M times A is the identity on the pattern of A") {
  const auto alone = Communicator::self();
  const ReferenceMatrix a = tests::convection(6);
  MatrixSystem system(alone, a);
  const std::vector<Vector> m = columns(system, Form::general, a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) {
      const bool is_in_pattern = a[i].contains(static_cast<std::int64_t>(j));
      if (!is_in_pattern) CHECK(m[j][i] == 0);
      if (!is_in_pattern) continue;
      double product = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        const auto found = a[k].find(static_cast<std::int64_t>(j));
        if (found != a[k].end()) product += m[k][i] * found->second;
      }
      CHECK(product == Approx(i == j ? 1 : 0).margin(1e-12));
    }
}

TEST_CASE("the symmetric form is symmetric positive definite, and exact for a tridiagonal factor") {
  const auto alone = Communicator::self();
  const ReferenceMatrix a = tests::shifted_laplacian(6, 0);
  MatrixSystem system(alone, a);
  const std::vector<Vector> m = columns(system, Form::symmetric, a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(m[i][j] == Approx(m[j][i]).margin(1e-15));
  for (int k = 0; k < 5; ++k) {
    Vector r(a.size());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::sin(1.0 + double(i) * (k + 1));
    double sum = 0;
    for (std::size_t j = 0; j < r.size(); ++j) sum += r[j] * tests::dot(m[j], r);
    CHECK(sum > 0);
  }
  // The inverse factor of a bidiagonal L·Lᵀ whose L⁻¹ has its pattern: a block diagonal matrix.
  ReferenceMatrix pairs(10);
  for (std::int64_t i = 0; i < 10; i += 2) {
    pairs[static_cast<std::size_t>(i)] = {{i, 2}, {i + 1, -1}};
    pairs[static_cast<std::size_t>(i + 1)] = {{i, -1}, {i + 1, 3}};
  }
  MatrixSystem blocks(alone, pairs);
  const Vector b = tests::some_vector(10);
  const Vector back = tests::multiply(pairs, apply(blocks, {.form = Form::symmetric}, b));
  for (std::size_t i = 0; i < 10; ++i) CHECK(back[i] == Approx(b[i]));
}

TEST_CASE("ranks, threads and modes change no bit of it") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const Form form : {Form::general, Form::symmetric}) {
    const ReferenceMatrix a =
        form == Form::general ? tests::convection(13) : tests::shifted_laplacian(13, 0);
    const Vector r = tests::some_vector(a.size());
    MatrixSystem serial(alone, a, 1);
    MatrixSystem together(world, a);
    const Vector expected =
        together.part_of(apply(serial, {.form = form, .mode = spmv::Mode::vector}, r));
    for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task})
      CHECK(apply(together, {.form = form, .mode = mode}, r) == expected);
  }
}

TEST_CASE("threads have other rows of the factors than of the matrix") {
  constexpr std::int64_t size = 400;
  constexpr std::int64_t heads = 12;
  ReferenceMatrix a(size);  // its first rows are long, those of the lower triangle are not
  for (std::int64_t i = 0; i < size; ++i) {
    a[static_cast<std::size_t>(i)][i] = size;
    for (std::int64_t j = 0; j < std::min(i, heads); ++j)
      a[static_cast<std::size_t>(i)][j] = a[static_cast<std::size_t>(j)][i] =
          -1.0 / static_cast<double>(i + j + 1);
  }
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  MatrixSystem serial(alone, a, 1);
  MatrixSystem together(world, a);
  IsaiPreconditioner reference(serial.op(), {.form = Form::symmetric});
  IsaiPreconditioner inverse(together.op(), {.form = Form::symmetric});
  Vector r = tests::some_vector(a.size());
  for (int round = 0; round < 20; ++round) {
    for (double& value : r) value = -0.75 * value + 1;
    Vector expected(a.size());
    serial.op().team().run(
        [&](const TeamThread& thread) { reference.apply(thread, r.data(), expected.data()); });
    const Vector own = together.part_of(r);
    Vector z(own.size());
    together.op().team().run(
        [&](const TeamThread& thread) { inverse.apply(thread, own.data(), z.data()); });
    CHECK(z == together.part_of(expected));
  }
}

TEST_CASE("long rows use their largest entries") {
  ReferenceMatrix arrow(200);
  for (std::int64_t i = 0; i < 200; ++i) {
    arrow[static_cast<std::size_t>(i)][i] = 300;
    arrow[0][i] = i == 0 ? 300 : 1;
    arrow[static_cast<std::size_t>(i)][0] = i == 0 ? 300 : -1;
  }
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, arrow);
  CHECK_NOTHROW(IsaiPreconditioner(system.op(), {}));
}

TEST_CASE("a row whose matrix is singular or indefinite is named on every rank") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix a = tests::shifted_laplacian(5, 0);
  a[12][12] = -4;
  MatrixSystem indefinite(world, a);
  CHECK_THROWS_WITH(IsaiPreconditioner(indefinite.op(), {.form = Form::symmetric}),
                    Catch::Contains("row 13") && Catch::Contains("expected"));
  CHECK_NOTHROW(IsaiPreconditioner(indefinite.op(), {}));
  ReferenceMatrix zero(20);
  for (std::int64_t i = 0; i < 20; ++i) zero[static_cast<std::size_t>(i)][i] = i == 7 ? 0 : 1;
  MatrixSystem singular(world, zero);
  CHECK_THROWS_WITH(IsaiPreconditioner(singular.op(), {}),
                    Catch::Contains("row 8") && Catch::Contains("block-lu"));
}

}  // namespace weft::solver
