#include "solver/choice/decision_table.h"

#include <array>
#include <string>
#include <string_view>

namespace weft::solver {
namespace {

/// A way to solve: method and preconditioner.
struct Way {
  std::string_view method;
  std::string_view preconditioner;
};

struct Row {
  bool (*holds)(const MatrixTraits& traits);
  std::string_view reason;
  /// In order; empty methods at the end. `amg` is left out where it is not available.
  std::array<Way, 4> ways;
};

/// Points of a grid from which multigrid is worth its set-up.
constexpr std::int64_t least_rows_of_grid = 27000;

/// Multiplications within the envelope, of about 1 ns each: 30 ms where an iteration may be
/// quicker, and what is worth it for a matrix without the signs or the diagonal that iterations
/// like.
constexpr std::int64_t work_for_any = 30000000;
constexpr std::int64_t work_for_hard = 400000000;
constexpr std::int64_t work_for_many_rows = 250000000;

bool is_easy(const MatrixTraits& traits) {
  return traits.has_positive_diagonal() && (traits.is_dominant() || traits.has_signs_of_m_matrix());
}

/// True if one factorization of the whole matrix is the quickest.
bool is_small(const MatrixTraits& traits) {
  // Signs alone do not tell: a Laplacian that has been shifted is indefinite.
  if (traits.has_positive_diagonal() && traits.is_dominant())
    return traits.row_count <= direct_row_count && traits.envelope_work <= work_for_any;
  if (traits.row_count <= direct_row_count) return traits.envelope_work <= work_for_hard;
  return traits.row_count <= most_rows_with_work && traits.envelope_work <= work_for_many_rows;
}

/// True if a Krylov method with the diagonal takes some 60 iterations for 1e-8 at most, whatever
/// the size: the condition number of D⁻¹·A is at most 39 where A is symmetric.
bool exceeds_others(const MatrixTraits& traits) {
  constexpr double rounding = 1e-12;  // of sums
  return traits.least_excess >= 0.05 - rounding;
}

/// True for about as few iterations with the diagonal as a better preconditioner needs products
/// with its set-up: both grow with the number of layers of the graph, of which the band tells as
/// the rows are, and which is at least that of a cube.
bool has_few_layers(const MatrixTraits& traits, std::int64_t most_layers) {
  return traits.row_count <= most_layers * most_layers * most_layers &&
         traits.row_count <= most_layers * traits.bandwidth;
}

/// True if the diagonal dominates in nine rows of ten.
bool is_mostly_dominant(const MatrixTraits& traits) {
  return 10 * traits.dominant_row_count >= 9 * traits.row_count;
}

bool may_be_definite(const MatrixTraits& traits) {
  return traits.is_symmetric() && traits.has_positive_diagonal();
}

/// True where some 2.5 iterations a layer, each of about 2 ns a row while vectors stay in a cache,
/// take less than the 1 us a row of algebraic multigrid: well-behaved matrices of planes.
bool is_quick_in_cache(const MatrixTraits& traits) {
  constexpr std::int64_t most_rows = 30000;
  constexpr std::int64_t most_layers = 150;
  return is_easy(traits) && traits.row_count <= most_rows &&
         traits.row_count <= most_layers * traits.bandwidth;
}

/// True if so many couplings of the grid are cut that coarse grids, which know of no walls, help
/// little. Of 180 x 180 points with a share of couplings cut at random, iterations with multigrid
/// and with algebraic multigrid: 0.03 10, 11; 0.1 15, 11; 0.3 188, 13; 0.5 1314, 15.
bool has_walls(const MatrixTraits& traits) {
  constexpr std::int64_t most_share = 8;
  const spmv::GridSize& grid = *traits.grid;
  const std::int64_t points = traits.row_count;
  const std::int64_t pairs = 3 * points - points / grid.x - points / grid.y - points / grid.z;
  return most_share * traits.cut_coupling_count > pairs;
}

// Tried on the matrices of docs/how-to/choose-a-method.md; the times are there.
constexpr std::array table{
    Row{[](const MatrixTraits& t) { return t.is_diagonal() && t.zero_diagonal_count == 0; },
        "the matrix is diagonal: its inverse is the preconditioner",
        {{{"gmres", "jacobi"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) {
          return t.is_symmetric() && t.has_constant_null_space() && has_few_layers(t, 30);
        },
        "all rows of a symmetric M-matrix add up to zero, so that it is singular, and definite "
        "beside its null space; few layers: the diagonal is quicker than the set-up of multigrid",
        {{{"cg", "jacobi"}, {"minres", "jacobi"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) { return t.is_symmetric() && t.has_constant_null_space(); },
        "all rows of a symmetric M-matrix add up to zero, so that it is singular, and definite "
        "beside its null space: algebraic multigrid, else the diagonal",
        {{{"cg", "amg"}, {"cg", "jacobi"}, {"minres", "jacobi"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) { return may_be_definite(t) && exceeds_others(t); },
        "symmetric, and every diagonal entry exceeds all others of its row by 5 % of itself: few "
        "iterations with the diagonal",
        {{{"cg", "jacobi"}, {"minres", "jacobi"}}}},
    Row{[](const MatrixTraits& t) { return !t.is_symmetric() && exceeds_others(t); },
        "not symmetric, and every diagonal entry exceeds all others of its row by 5 % of itself: "
        "few iterations with the diagonal",
        {{{"bicgstab", "jacobi"}, {"gmres", "jacobi"}, {"gmres", "ilu0"}}}},
    Row{[](const MatrixTraits& t) { return is_small(t) && may_be_definite(t); },
        "symmetric with a positive diagonal, few rows or a narrow band, and little fill: one "
        "Cholesky "
        "factorization is the quickest, and LU where the matrix is not definite",
        {{{"cg", "schwarz:subdomains=1,partition=rows"},
          {"gmres", "block-lu:subdomains=1"},
          {"minres", "none"}}}},
    Row{[](const MatrixTraits& t) { return is_small(t) && t.is_symmetric(); },
        "symmetric and not definite, as its diagonal shows, with few rows or a narrow band, and "
        "little fill: one LU factorization is the quickest",
        {{{"gmres", "block-lu:subdomains=1"}, {"minres", "none"}}}},
    Row{[](const MatrixTraits& t) { return is_small(t); },
        "not symmetric, with few rows or a narrow band, and little fill: one LU factorization is "
        "the quickest",
        {{{"gmres", "block-lu:subdomains=1"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) {
          return may_be_definite(t) && (has_few_layers(t, 30) || is_quick_in_cache(t));
        },
        "symmetric with a positive diagonal, and a graph of few layers: the diagonal is quicker "
        "than the set-up of multigrid",
        {{{"cg", "jacobi"}, {"cg", "amg"}, {"cg", "isai"}, {"minres", "jacobi"}}}},
    Row{[](const MatrixTraits& t) {
          return t.grid && t.row_count >= least_rows_of_grid && t.is_dominant() &&
                 t.has_signs_of_m_matrix() && !has_walls(t);
        },
        "a symmetric M-matrix whose rows are the points of a grid: multigrid on that grid, else "
        "algebraic multigrid",
        {{{"cg", "multigrid"}, {"cg", "amg"}, {"cg", "jacobi"}, {"minres", "jacobi"}}}},
    Row{[](const MatrixTraits& t) {
          return t.grid && t.is_dominant() && t.has_signs_of_m_matrix() && has_walls(t);
        },
        "a symmetric M-matrix whose rows are the points of a grid with walls, which cut couplings: "
        "algebraic multigrid, else the diagonal",
        {{{"cg", "amg"}, {"cg", "jacobi"}, {"cg", "isai"}, {"minres", "jacobi"}}}},
    Row{[](const MatrixTraits& t) {
          return may_be_definite(t) && (t.is_dominant() || t.has_signs_of_m_matrix());
        },
        "symmetric with a positive diagonal that dominates, or an M-matrix: algebraic multigrid, "
        "else the diagonal",
        {{{"cg", "amg"}, {"cg", "jacobi"}, {"cg", "isai"}, {"minres", "jacobi"}}}},
    Row{may_be_definite,
        "symmetric with a positive diagonal that does not dominate: algebraic multigrid, "
        "else a sparse approximate inverse, which halves the iterations",
        {{{"cg", "amg"}, {"cg", "isai"}, {"minres", "jacobi"}, {"gmres", "schwarz"}}}},
    Row{[](const MatrixTraits& t) { return t.is_symmetric(); },
        "symmetric and not definite, as its diagonal shows",
        {{{"minres", "none"}, {"gmres", "schwarz"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) {
          return t.zero_diagonal_count > 0 && t.nonzero_count <= 2 * t.row_count &&
                 t.row_count <= most_rows_with_work;
        },
        "not symmetric, with zeros on the diagonal and at most two entries a row: once rows are "
        "exchanged, LU of the whole has hardly any fill",
        {{{"gmres", "block-lu:subdomains=1"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) {
          return t.zero_diagonal_count > 0 && t.row_count <= most_rows_with_work;
        },
        "not symmetric, with zeros on the diagonal, which incomplete factors would divide by: LU "
        "exchanges rows, of overlapping subdomains or, where these are singular, of the whole",
        {{{"gmres", "schwarz:kind=restricted"},
          {"gmres", "block-lu:subdomains=1"},
          {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) { return t.zero_diagonal_count > 0; },
        "not symmetric, with zeros on the diagonal, which incomplete factors would divide by: LU "
        "of "
        "overlapping subdomains exchanges rows",
        {{{"gmres", "schwarz:kind=restricted"}, {"gmres", "none"}}}},
    Row{[](const MatrixTraits& t) { return is_mostly_dominant(t) && has_few_layers(t, 40); },
        "not symmetric, with a diagonal that dominates in nearly all rows and a graph of few "
        "layers: the diagonal is quicker than the set-up of incomplete factors",
        {{{"bicgstab", "jacobi"}, {"gmres", "ilu0"}, {"gmres", "schwarz:kind=restricted"}}}},
    Row{[](const MatrixTraits&) { return true; },
        "not symmetric, with a diagonal without zeros: incomplete factors of blocks of rows",
        {{{"bicgstab", "ilu0"},
          {"gmres", "ilu0"},
          {"gmres", "schwarz:kind=restricted"},
          {"gmres", "none"}}}},
};

}  // namespace

Candidate unsymmetric_candidate(const std::string& preconditioner) {
  return {"gmres", preconditioner, "the matrix is not symmetric"};
}

std::vector<Candidate> candidates(const MatrixTraits& traits, const Available& available) {
  std::vector<Candidate> chosen;
  for (const Row& row : table) {
    if (!row.holds(traits)) continue;
    for (const Way& way : row.ways)
      if (!way.method.empty() && (way.preconditioner != "amg" || available.has_amg))
        chosen.push_back(
            {std::string(way.method), std::string(way.preconditioner), std::string(row.reason)});
    break;
  }
  return chosen;
}

}  // namespace weft::solver
