// The table row by row: traits in, the order of methods out.
#include "solver/choice/decision_table.h"

#include <cstdint>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "solver/methods/method_table.h"

namespace weft::solver {
namespace {

/// Symmetric, dominant, positive on the diagonal, negative beside it.
MatrixTraits well_behaved(std::int64_t rows) {
  return {.row_count = rows,
          .nonzero_count = 5 * rows,
          .largest_row_count = rows,
          .asymmetry = std::nullopt,
          .dominant_row_count = rows,
          .bandwidth = 100,
          .longest_row = 5,
          .least_diagonal = 4,
          .largest_diagonal = 4,
          .grid = std::nullopt};
}

/// "method preconditioner, …" in the order of the candidates.
std::string order_of(const MatrixTraits& traits, bool has_amg = false) {
  std::string text;
  for (const Candidate& candidate : candidates(traits, {.has_amg = has_amg})) {
    CHECK(find_krylov_method(candidate.method) != nullptr);
    CHECK(!candidate.reason.empty());
    text += (text.empty() ? "" : ", ") + candidate.method + " " + candidate.preconditioner;
  }
  return text;
}

constexpr std::int64_t large = 1000000;

}  // namespace

TEST_CASE("a diagonal matrix is solved by its diagonal") {
  MatrixTraits traits = well_behaved(large);
  traits.bandwidth = 0;
  CHECK(order_of(traits) == "gmres jacobi, gmres none");
  traits.zero_diagonal_count = 1;
  CHECK(order_of(traits).starts_with("minres none"));
}

TEST_CASE("a singular M-matrix with zero row sums gets conjugate gradients, however small") {
  MatrixTraits traits = well_behaved(large);
  traits.zero_sum_row_count = large;
  CHECK(order_of(traits) == "cg jacobi, minres jacobi, gmres none");
  CHECK(order_of(traits, true) == "cg amg, cg jacobi, minres jacobi, gmres none");
  traits.row_count = traits.zero_sum_row_count = 100;
  CHECK(order_of(traits, true) == "cg jacobi, minres jacobi, gmres none");
  traits.zero_sum_row_count = 99;
  CHECK(order_of(traits).starts_with("cg schwarz:subdomains=1"));
}

TEST_CASE("small matrices are factored: Cholesky where they may be definite, else LU") {
  MatrixTraits traits = well_behaved(direct_row_count);
  CHECK(order_of(traits) ==
        "cg schwarz:subdomains=1,partition=rows, gmres block-lu:subdomains=1, minres none");
  traits.negative_diagonal_count = 3;
  CHECK(order_of(traits) == "gmres block-lu:subdomains=1, minres none");
  traits.asymmetry = Asymmetry{0, 1, 2, 3};
  CHECK(order_of(traits) == "gmres block-lu:subdomains=1, gmres none");
}

TEST_CASE("small matrices whose factors fill are iterated for, sooner where that is easy") {
  MatrixTraits traits = well_behaved(4096);  // a grid of 16^3 points, with its rim
  traits.zero_sum_row_count = 2744;
  traits.bandwidth = 256;
  traits.envelope_work = std::int64_t{256} * 65536;
  CHECK(order_of(traits, true).starts_with("cg schwarz:subdomains=1"));
  traits.envelope_work = std::int64_t{4096} * 65536;
  CHECK(order_of(traits, true) == "cg jacobi, cg amg, cg isai, minres jacobi");
  traits.dominant_row_count = 4095;
  traits.positive_off_diagonal_count = 1;
  CHECK(order_of(traits, true).starts_with("cg schwarz:subdomains=1"));
  traits.envelope_work *= 2;
  CHECK(order_of(traits, true).starts_with("cg jacobi, cg amg"));
  traits.asymmetry = Asymmetry{0, 1, 2, 3};
  CHECK(order_of(traits).starts_with("bicgstab jacobi"));
  // A narrow band is factored soon, however many rows it has.
  traits.row_count = most_rows_with_work;
  traits.envelope_work = std::int64_t{2500} * most_rows_with_work;
  CHECK(order_of(traits).starts_with("gmres block-lu:subdomains=1"));
  traits.envelope_work *= 2;
  CHECK(order_of(traits).starts_with("bicgstab ilu0"));
}

TEST_CASE("multigrid is for graphs of many layers") {
  MatrixTraits traits = well_behaved(20000);
  traits.zero_sum_row_count = 15000;
  traits.bandwidth = 700;
  CHECK(order_of(traits, true).starts_with("cg jacobi, cg amg"));
  traits.bandwidth = 134;
  CHECK(order_of(traits, true).starts_with("cg jacobi, cg amg"));  // vectors stay in a cache
  traits.bandwidth = 133;
  CHECK(order_of(traits, true).starts_with("cg amg, cg jacobi"));
  traits.bandwidth = 140;
  traits.dominant_row_count -= 1;
  traits.positive_off_diagonal_count = 1;
  traits.envelope_work = std::int64_t{1} << 30;
  CHECK(order_of(traits, true).starts_with("cg amg, cg isai"));
  traits = well_behaved(40000);
  traits.zero_sum_row_count = 15000;
  traits.bandwidth = 39999;
  CHECK(order_of(traits, true).starts_with("cg amg, cg jacobi"));
}

TEST_CASE("an M-matrix on a grid gets multigrid on that grid, else algebraic multigrid") {
  MatrixTraits traits = well_behaved(40000);
  traits.grid = spmv::GridSize{100, 400, 1};
  CHECK(order_of(traits, true) == "cg multigrid, cg amg, cg jacobi, minres jacobi");
  traits.positive_off_diagonal_count = 1;
  CHECK(order_of(traits, true).starts_with("cg amg"));
  traits = well_behaved(26000);  // few points
  traits.grid = spmv::GridSize{100, 260, 1};
  CHECK(order_of(traits, true).starts_with("cg amg"));
  traits = well_behaved(40000);
  traits.grid = spmv::GridSize{100, 400, 1};
  traits.cut_coupling_count = 9000;  // of 79 500
  CHECK(order_of(traits, true).starts_with("cg multigrid, cg amg"));
  traits.cut_coupling_count = 12000;
  CHECK(order_of(traits, true) == "cg amg, cg jacobi, cg isai, minres jacobi");
}

TEST_CASE("large symmetric matrices with a positive diagonal get conjugate gradients") {
  MatrixTraits traits = well_behaved(large);
  CHECK(order_of(traits, true) == "cg amg, cg jacobi, cg isai, minres jacobi");
  CHECK(order_of(traits) == "cg jacobi, cg isai, minres jacobi");
  CHECK(order_of(traits, true) == "cg amg, cg jacobi, cg isai, minres jacobi");
  traits.positive_off_diagonal_count = 7;
  CHECK(order_of(traits).starts_with("cg jacobi"));
  traits.dominant_row_count = large - 1;
  CHECK(order_of(traits) == "cg isai, minres jacobi, gmres schwarz");
  CHECK(order_of(traits, true) == "cg amg, cg isai, minres jacobi, gmres schwarz");
}

TEST_CASE("the diagonal is enough where it exceeds the others of its row, whatever the size") {
  for (const std::int64_t rows : {std::int64_t{100}, large}) {
    MatrixTraits traits = well_behaved(rows);
    traits.least_excess = 0.06;
    CHECK(order_of(traits, true) == "cg jacobi, minres jacobi");
    traits.asymmetry = Asymmetry{0, 1, 2, 3};
    CHECK(order_of(traits) == "bicgstab jacobi, gmres jacobi, gmres ilu0");
    traits.least_excess = 0.04;
    CHECK(!order_of(traits).starts_with("bicgstab jacobi"));
  }
}

TEST_CASE("a diagonal that dominates in most rows is enough where the graph has few layers") {
  MatrixTraits traits = well_behaved(64000);
  traits.envelope_work = std::int64_t{1} << 40;
  traits.asymmetry = Asymmetry{0, 1, 2, 3};
  traits.bandwidth = 1600;
  CHECK(order_of(traits) == "bicgstab jacobi, gmres ilu0, gmres schwarz:kind=restricted");
  traits.bandwidth = 1599;
  CHECK(order_of(traits).starts_with("bicgstab ilu0"));
  traits.bandwidth = 1600;
  traits.dominant_row_count = 57600;
  CHECK(order_of(traits).starts_with("bicgstab jacobi"));
  traits.dominant_row_count -= 1;
  CHECK(order_of(traits).starts_with("bicgstab ilu0"));
}

TEST_CASE("large symmetric matrices with another diagonal get MINRES") {
  MatrixTraits traits = well_behaved(large);
  traits.negative_diagonal_count = 1;
  CHECK(order_of(traits) == "minres none, gmres schwarz, gmres none");
  traits.negative_diagonal_count = 0;
  traits.zero_diagonal_count = 1;
  CHECK(order_of(traits) == "minres none, gmres schwarz, gmres none");
}

TEST_CASE("large matrices that are not symmetric get incomplete factors, or LU of subdomains") {
  MatrixTraits traits = well_behaved(large);
  traits.asymmetry = Asymmetry{0, 1, 2, 3};
  CHECK(order_of(traits) == "bicgstab ilu0, gmres ilu0, gmres schwarz:kind=restricted, gmres none");
  traits.zero_diagonal_count = 2;
  CHECK(order_of(traits) == "gmres schwarz:kind=restricted, gmres none");
  traits.row_count = most_rows_with_work;
  traits.envelope_work = std::int64_t{1} << 40;
  CHECK(order_of(traits) ==
        "gmres schwarz:kind=restricted, gmres block-lu:subdomains=1, gmres none");
  traits.nonzero_count = 2 * traits.row_count;
  CHECK(order_of(traits) == "gmres block-lu:subdomains=1, gmres none");
}

}  // namespace weft::solver
