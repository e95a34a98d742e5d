// Real matrices, compared with a sparse direct solver. They are read from the folder WEFT_DATA;
// without it these cases are skipped.
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/direct_solver.h"
#include "tests/system/json_report.h"
#include "tests/system/program_run.h"
#include "tests/system/reference_matrix.h"

namespace {

using weft::tests::DirectSolver;
using weft::tests::MatrixFile;
using weft::tests::norm;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

constexpr double tolerance = 1e-8;

/// Empty when the file is not there.
std::string data_file(const std::string& name) {
  const char* const folder = std::getenv("WEFT_DATA");
  const std::string path = std::string(folder ? folder : "") + "/" + name;
  if (folder && std::filesystem::exists(path)) return path;
  WARN("skipped: " << name << " is not in the folder that WEFT_DATA names");
  return {};
}

/// The matrix, its factors, and how far a solution may be from that of CHOLMOD:
///
/// x - x* = A⁻¹ r, so ‖x - x*‖ ≤ ‖A⁻¹‖ ‖r‖, where ‖r‖ ≤ 2 · tolerance · ‖b‖ is checked. This is
/// sharp when r lies along the eigenvector of the smallest eigenvalue. CHOLMOD is backward stable:
/// its own error is a small multiple of ε κ(A) ‖x*‖.
class Oracle {
 public:
  Oracle(const MatrixFile& matrix, const std::vector<double>& b)
      : solver_(matrix),
        solution_(solver_.solve(b)),
        norm_of_inverse_(1.1 * solver_.norm_of_inverse()),
        condition_(norm_of_inverse_ * norm_bound(matrix)) {}

  bool is_positive_definite() const { return solver_.is_positive_definite(); }
  const std::vector<double>& solution() const { return solution_; }
  double error_bound(double residual_norm) const {
    return norm_of_inverse_ * residual_norm +
           10 * std::numeric_limits<double>::epsilon() * condition_ * norm(solution_);
  }

 private:
  DirectSolver solver_;
  std::vector<double> solution_;
  double norm_of_inverse_;
  double condition_;
};

double distance(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return norm(x);
}

/// Solves for b = 1: with the last of `methods` on 1, 2 and 4 ranks, with others on 4.
void check_solves(const std::string& name, const std::vector<std::string>& methods) {
  const std::string path = data_file(name);
  if (path.empty()) return;
  const MatrixFile matrix = weft::tests::read_matrix_file(path);
  const std::vector<double> b(matrix.row_count, 1.0);
  const Oracle oracle(matrix, b);
  CHECK(oracle.is_positive_definite());
  for (const std::string& method : methods)
    for (const int ranks : method == methods.back() ? std::vector{1, 2, 4} : std::vector{4}) {
      INFO(name << ", " << method << ", " << ranks << " ranks");
      const ScratchFolder folder;
      const auto result = run_weft(
          ranks, {"solve", path, "--rhs", "ones", "--method", method, "--tolerance", "1e-8",
                  "--threads", "1", "--solution", folder.path("x.mtx"), "--json", "-"});
      CHECK(result.exit_code == 0);
      const auto report = report_of(result);
      CHECK(report.value("status", "") == "converged");
      const auto x = weft::tests::read_vector_file(folder.path("x.mtx"));
      CHECK(x.size() == b.size());
      if (x.size() != b.size()) continue;
      const double r = norm(residual(matrix, b, x));
      CHECK(r <= 2 * tolerance * norm(b));
      CHECK(report.value("relative_residual", 1.0) == Approx(r / norm(b)).epsilon(0.01));
      const double size = norm(oracle.solution());
      CHECK(distance(x, oracle.solution()) / size <= oracle.error_bound(r) / size);
    }
}

}  // namespace

TEST_CASE("a finite element matrix of 50 724 rows is solved as by CHOLMOD") {
  check_solves("fem50k.mtx.gz", {"cg", "pcg-jacobi"});
}

TEST_CASE("a structural matrix of condition 1e10 is solved as by CHOLMOD") {
  check_solves("bcsstk13.mtx", {"pcg-jacobi"});
}

TEST_CASE("an anisotropic diffusion matrix is solved as by CHOLMOD") {
  check_solves("ani4.mtx", {"cg", "pcg-jacobi"});
}

TEST_CASE("an elasticity matrix is solved as by CHOLMOD") {
  check_solves("bar.mtx", {"cg", "pcg-jacobi"});
}

TEST_CASE("the matrix of a mesh around an airfoil is solved as by CHOLMOD") {
  check_solves("airfoil.mtx", {"cg", "pcg-jacobi"});
}

TEST_CASE("the structural matrix reaches the tolerance for other right-hand sides too") {
  const std::string path = data_file("bcsstk13.mtx");
  if (path.empty()) return;
  for (const char* const right_hand_side : {"random:1", "random:2", "x-random:1"})
    for (const int ranks : {1, 2}) {
      INFO(right_hand_side << ", " << ranks << " ranks");
      const auto result =
          run_weft(ranks, {"solve", path, "--method", "pcg-jacobi", "--rhs", right_hand_side,
                           "--tolerance", "1e-8", "--threads", "1", "--json", "-"});
      CHECK(result.exit_code == 0);
      CHECK(report_of(result).value("relative_residual", 1.0) <= 2 * tolerance);
    }
}
