#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using Kind = SchwarzPreconditioner::Kind;
using Dense = std::vector<std::vector<double>>;

constexpr int nx = 6;
constexpr int ny = 5;
constexpr int row_count = nx * ny;
const std::string word = "poisson2d:6x5";

Dense dense_matrix() {
  Dense a(row_count, std::vector<double>(row_count));
  for (int i = 0; i < row_count; ++i) {
    a[std::size_t(i)][std::size_t(i)] = 4;
    if (i % nx > 0) a[std::size_t(i)][std::size_t(i - 1)] = -1;
    if (i % nx < nx - 1) a[std::size_t(i)][std::size_t(i + 1)] = -1;
    if (i >= nx) a[std::size_t(i)][std::size_t(i - nx)] = -1;
    if (i + nx < row_count) a[std::size_t(i)][std::size_t(i + nx)] = -1;
  }
  return a;
}

/// By elimination.
std::vector<double> dense_solve(Dense a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// z = M·r straight from its definition.
std::vector<double> reference(const SchwarzPreconditioner::Options& options,
                              const std::vector<double>& r) {
  const Dense a = dense_matrix();
  const auto count = static_cast<int>(options.piece_count);
  std::vector<std::set<std::size_t>> pieces;
  std::vector<int> sharers(row_count);
  for (int s = 0; s < count; ++s) {
    std::set<std::size_t>& rows = pieces.emplace_back();
    for (int i = row_count * s / count; i < row_count * (s + 1) / count; ++i)
      rows.insert(std::size_t(i));
    for (int layer = 0; layer < options.overlap; ++layer)
      for (const std::size_t i : std::set<std::size_t>(rows))
        for (std::size_t j = 0; j < row_count; ++j)
          if (a[i][j] != 0) rows.insert(j);
    for (const std::size_t i : rows) ++sharers[i];
  }
  const auto core_of = [&](std::size_t row) {
    int s = 0;
    while (static_cast<int>(row) >= row_count * (s + 1) / count) ++s;
    return s;
  };
  std::vector<double> z(row_count);
  for (int s = 0; s < count; ++s) {
    const std::vector<std::size_t> rows(pieces[std::size_t(s)].begin(),
                                        pieces[std::size_t(s)].end());
    const bool is_symmetric = options.kind == Kind::symmetric;
    Dense local;
    std::vector<double> b;
    for (const std::size_t i : rows) {
      local.emplace_back();
      for (const std::size_t j : rows) local.back().push_back(a[i][j]);
      for (std::size_t j = 0; options.kind == Kind::optimized && j < row_count; ++j)
        if (std::ranges::find(rows, j) == rows.end() && core_of(i) == core_of(j))
          local.back()[local.size() - 1] -= (1 - options.shift) * std::abs(a[i][j]);
      b.push_back(r[i] / (is_symmetric ? std::sqrt(sharers[i]) : 1));
    }
    const std::vector<double> x = dense_solve(local, b);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const int row = static_cast<int>(rows[k]);
      const bool is_inside = row >= row_count * s / count && row < row_count * (s + 1) / count;
      if (is_symmetric)
        z[rows[k]] += x[k] / std::sqrt(sharers[rows[k]]);
      else if (is_inside)
        z[rows[k]] = x[k];
    }
  }
  return z;
}

/// A matrix on some ranks and threads.
class System {
 public:
  explicit System(const Communicator& communicator, int threads = tests::thread_count(),
                  const std::string& problem = word)
      : communicator_(communicator.collective_duplicate()),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        operator_(communicator_, comm_thread_, team_,
                  collective_generate(communicator_, team_, spmv::Problem::parse(problem),
                                      spmv::PartitionBy::rows)) {}

  spmv::SparseOperator& op() { return operator_; }
  std::size_t first() const { return static_cast<std::size_t>(operator_.global_row(0)); }

  /// M times this rank's part of r. Collective.
  std::vector<double> apply(const SchwarzPreconditioner::Options& options,
                            const std::vector<double>& r) {
    SchwarzPreconditioner preconditioner(operator_, options);
    const std::vector<double> own(r.begin() + static_cast<std::ptrdiff_t>(first()),
                                  r.begin() + static_cast<std::ptrdiff_t>(first() + count()));
    std::vector<double> z(count());
    team_.run(
        [&](const TeamThread& thread) { preconditioner.apply(thread, own.data(), z.data()); });
    return z;
  }

  std::size_t count() const { return operator_.element_count(); }

 private:
  Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  spmv::SparseOperator operator_;
};

KrylovMethod::Options to_tight_tolerance() {
  KrylovMethod::Options options;
  options.stop.tolerance = 1e-10;
  return options;
}

std::vector<double> some_vector(std::size_t size) {
  std::vector<double> r;
  for (std::size_t i = 0; i < size; ++i) r.push_back(static_cast<double>(i * i % 17) - 7.5);
  return r;
}

}  // namespace

TEST_CASE("the preconditioner is what its definition says, with the same bits on any ranks") {
  System together(Communicator::collective_world());
  System alone(Communicator::self(), 1);
  const std::vector<double> r = some_vector(row_count);
  for (const Kind kind : {Kind::symmetric, Kind::restricted, Kind::optimized})
    for (const int pieces : {1, 4, 7})
      for (const int overlap : {0, 1, 2}) {
        if (kind == Kind::optimized && overlap == 0) continue;
        CAPTURE(name(kind), pieces, overlap);
        const SchwarzPreconditioner::Options options{
            .kind = kind, .piece_count = pieces, .overlap = overlap, .shift = 0.3};
        const std::vector<double> expected = reference(options, r);
        const std::vector<double> whole = alone.apply(options, r);
        const std::vector<double> part = together.apply(options, r);
        for (std::size_t i = 0; i < row_count; ++i) CHECK(whole[i] == Approx(expected[i]));
        for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == whole[together.first() + i]);
      }
}

TEST_CASE("every variant of CG with the preconditioner has the same bits on any ranks") {
  const std::string problem = "poisson2d:24x20";
  System together(Communicator::collective_world(), tests::thread_count(), problem);
  System alone(Communicator::self(), 1, problem);
  std::int64_t most = 0;
  for (const KrylovEntry& variant : krylov_methods()) {
    if (!variant.needs_symmetric_matrix || variant.needs_grid) continue;
    CAPTURE(variant.name);
    const Kind kind = variant.needs_symmetric_preconditioner ? Kind::symmetric : Kind::restricted;
    const auto solve = [&](System& system, std::vector<double>& x) {
      SchwarzPreconditioner inverse(system.op(), {.kind = kind, .piece_count = 5});
      KrylovMethod::Options options = to_tight_tolerance();
      options.preconditioner = &inverse;
      const auto method = variant.collective_make(system.op(), options);
      const SolveReport report = method->solve(std::vector<double>(system.count(), 1.0));
      x.assign(method->solution().begin(), method->solution().end());
      return report;
    };
    std::vector<double> whole;
    std::vector<double> part;
    const SolveReport expected = solve(alone, whole);
    const SolveReport found = solve(together, part);
    CHECK(found.status == SolveStatus::converged);
    CHECK(found.relative_residual < 2e-10);
    CHECK(found.iterations == expected.iterations);
    most = std::max(most, found.iterations);
    for (std::size_t i = 0; i < part.size(); ++i)
      CHECK(std::bit_cast<std::uint64_t>(part[i]) ==
            std::bit_cast<std::uint64_t>(whole[together.first() + i]));
  }
  const auto plain = find_krylov_method("cg")->collective_make(alone.op(), to_tight_tolerance());
  CHECK(most < plain->solve(std::vector<double>(alone.count(), 1.0)).iterations);
}

TEST_CASE("the norm of the inverse scales with the matrix where squares overflow") {
  const auto world = Communicator::collective_world();
  constexpr int exponent = 600;
  const auto norm = [&](double factor) {
    auto reference = tests::reference_matrix(spmv::Problem::parse(word));
    for (auto& row : reference)
      for (auto& [column, value] : row) value *= factor;
    tests::MatrixSystem system(world, reference);
    return SchwarzPreconditioner(system.op(), {.piece_count = 4}).norm();
  };
  CHECK(norm(std::ldexp(1, -exponent)) == std::ldexp(norm(1), exponent));
}

TEST_CASE("optimized with shift 1 has the bits of restricted") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:9");
  const std::vector<double> r = some_vector(729);
  CHECK(system.apply({.kind = Kind::optimized, .piece_count = 5, .shift = 1}, r) ==
        system.apply({.kind = Kind::restricted, .piece_count = 5}, r));
}

TEST_CASE("optimized pieces take GMRES fewer iterations, with the same bits on any ranks") {
  for (const auto& [problem, pieces] :
       {std::pair{std::string("poisson2d:40x40"), 8}, {std::string("poisson3d:24"), 3}}) {
    CAPTURE(problem);
    System together(Communicator::collective_world(), tests::thread_count(), problem);
    System alone(Communicator::self(), 1, problem);
    const auto solve = [&](System& system, Kind kind, std::vector<double>& x) {
      SchwarzPreconditioner inverse(system.op(), {.kind = kind, .piece_count = pieces});
      KrylovMethod::Options options = to_tight_tolerance();
      options.preconditioner = &inverse;
      const auto method = find_krylov_method("gmres")->collective_make(system.op(), options);
      const SolveReport report = method->solve(std::vector<double>(system.count(), 1.0));
      CHECK(report.status == SolveStatus::converged);
      x.assign(method->solution().begin(), method->solution().end());
      return report.iterations;
    };
    std::vector<double> whole;
    std::vector<double> part;
    const std::int64_t restricted = solve(alone, Kind::restricted, whole);
    const std::int64_t optimized = solve(alone, Kind::optimized, whole);
    CHECK(optimized < restricted);
    CHECK(solve(together, Kind::optimized, part) == optimized);
    for (std::size_t i = 0; i < part.size(); ++i)
      CHECK(std::bit_cast<std::uint64_t>(part[i]) ==
            std::bit_cast<std::uint64_t>(whole[together.first() + i]));
  }
}

TEST_CASE("matrices of optimized pieces stay positive definite") {
  for (const std::string problem :
       {"poisson2d:17x23", "poisson3d:9", "poisson3d27:8", "anisotropic3d:8,1,0.1,0.01",
        "irregular:2000,nnzr=9,bandwidth=40,seed=4"})
    for (const double shift : {0.1, 1e-6}) {
      CAPTURE(problem, shift);
      System system(Communicator::collective_world(), tests::thread_count(), problem);
      CHECK_NOTHROW(SchwarzPreconditioner(
          system.op(), {.kind = Kind::optimized, .piece_count = 6, .shift = shift}));
    }
}

TEST_CASE("parts of the graph cover every row and precondition as well as consecutive rows") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson2d:24x20");
  const auto iterations = [&](SchwarzPreconditioner::Partition partition) {
    SchwarzPreconditioner inverse(
        system.op(),
        {.kind = Kind::symmetric, .piece_count = 8, .partition = partition, .overlap = 1});
    CHECK(inverse.piece_count() >= 7);
    CHECK(inverse.piece_count() <= 9);
    KrylovMethod::Options options = to_tight_tolerance();
    options.preconditioner = &inverse;
    const auto method = find_krylov_method("cg")->collective_make(system.op(), options);
    const SolveReport report = method->solve(std::vector<double>(system.count(), 1.0));
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.relative_residual < 2e-10);
    return report.iterations;
  };
  CHECK(iterations(SchwarzPreconditioner::Partition::graph) <=
        iterations(SchwarzPreconditioner::Partition::rows) + 4);
}

TEST_CASE("what makes no preconditioner is refused on every rank") {
  System system(Communicator::collective_world());
  using Options = SchwarzPreconditioner::Options;
  CHECK_THROWS_AS(SchwarzPreconditioner(system.op(), Options{.piece_count = 31}),
                  comm_thread::InputError);
  CHECK_THROWS_AS(SchwarzPreconditioner(system.op(), Options{.overlap = -1}),
                  comm_thread::InputError);
  CHECK_THROWS_AS(
      SchwarzPreconditioner(system.op(), Options{.kind = Kind::optimized, .overlap = 0}),
      comm_thread::InputError);
  CHECK_THROWS_AS(
      SchwarzPreconditioner(system.op(), Options{.kind = Kind::optimized, .shift = 1.5}),
      comm_thread::InputError);
}

}  // namespace weft::solver
