// Several right-hand sides as the columns of a file.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/files/file_runs.h"
#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::check_refused;
using weft::tests::next_ranks;
using weft::tests::ProgramResult;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_foreign_files;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// Solves for the right-hand sides of a file of `folder`.
ProgramResult solve(int ranks, const ScratchFolder& folder, const std::string& b,
                    const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"solve",        folder.path("a.npz"), "--rhs",
                                     folder.path(b), "--threads",          "1"};
  if (std::ranges::find(more, "--method") == more.end())
    arguments.insert(arguments.end(), {"--method", "cg"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_weft(ranks, arguments);
}

/// The bytes of the solution as NumPy's array.
std::string solution_of(int ranks, const ScratchFolder& folder, const std::string& b) {
  INFO(ranks << " ranks: " << b);
  const auto result = solve(ranks, folder, b, {"--solution", folder.path("x.npy")});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  return result.exit_code == 0 ? read_file(folder.path("x.npy")) : "";
}

}  // namespace

TEST_CASE("columns have the bits of single solves, in every format that holds them") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-columns", folder)) return;
  for (const std::string column : {"1", "2", "3"}) {
    const auto result = solve(1, folder, "column" + column + ".npy",
                              {"--solution", folder.path("x" + column + ".npy")});
    CHECK(result.exit_code == 0);
  }
  const std::string x = solution_of(2, folder, "b.npy");
  for (const std::string name : {"x.h5", "x.mtx", "packed.mtx.gz"})
    CHECK(solve(next_ranks(), folder, "b.npy", {"--solution", folder.path(name)}).exit_code == 0);
  if (run_foreign_files("write-hdf5-columns", folder)) {
    CHECK(run_foreign_files("check-columns", folder));
    for (const std::string name :
         {"plain", "packed", "real", "packed_real", "matlab", "matlab_complex"})
      CHECK(solution_of(next_ranks(), folder, "b.h5:" + name) == x);
  }
  for (const std::string name :
       {"by_columns.npy", "short.npy", "real.npy", "stored.npz", "deflated.npz", "csr.npz",
        "csc.npz", "coo.npz", "stored_csr.npz", "stored_csc.npz", "stored_coo.npz", "bsr.npz",
        "dia.npz", "b.txt", "sparse.mtx", "sparse.petsc", "dense.petsc"})
    CHECK(solution_of(next_ranks(), folder, name) == x);
  // What weft writes, it reads.
  CHECK_THAT(solve(2, folder, "b.npy", {"--initial", folder.path("x.mtx")}).output,
             Catch::Contains("converged after 0 iterations for 3 right-hand sides"));
}

TEST_CASE("one vector may be a sparse column or row, or alone in an archive") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-columns", folder)) return;
  const std::string x = solution_of(1, folder, "column1.npy");
  CHECK(x.size() == 128 + 97 * 8);
  for (const std::string name :
       {"one_csr.npz", "one_csc.npz", "one_coo.npz", "row_csr.npz", "row_csc.npz", "row_coo.npz",
        "flat_coo.npz", "flat_csr.npz", "alone.npz", "row.txt"})
    CHECK(solution_of(next_ranks(), folder, name) == x);
  if (run_foreign_files("write-hdf5-columns", folder))
    CHECK(solution_of(2, folder, "b.h5:petsc") == x);
}

TEST_CASE("the report has a line for each column, and ends as the worst of them") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-columns", folder)) return;
  const auto good = solve(2, folder, "b.npy");
  CHECK(good.exit_code == 0);
  for (const std::string column : {"column 1", "column 2", "column 3"})
    CHECK_THAT(good.output, Catch::Contains("\n" + column + "     converged after"));
  // Guesses that solve the systems already.
  CHECK(solve(1, folder, "b.npy", {"--solution", folder.path("x.npy")}).exit_code == 0);
  const auto guessed =
      solve(2, folder, "b.npy",
            {"--initial", folder.path("x.npy"), "--max-iterations", "0", "--json", "-"});
  CHECK(guessed.exit_code == 0);
  const auto bad = solve(2, folder, "b.npy", {"--max-iterations", "2", "--json", "-"});
  CHECK(bad.exit_code == 3);
  const auto report = report_of(bad);
  CHECK(weft::tests::faults_of_solve_report(report) == "");
  CHECK(report["status"] == "not-converged");
  CHECK(report["iterations"] == 6);
  REQUIRE(report["columns"].size() == 3);
  for (const auto& column : report["columns"]) {
    CHECK(column["iterations"] == 2);
    CHECK(column["status"] == "not-converged");
    CHECK(column["relative_residual"] <= report["relative_residual"]);
  }
  // Without a block, and where weft chooses.
  for (const std::string method : {"gmres", "auto"}) {
    const auto result = solve(2, folder, "b.npy", {"--method", method, "--json", "-"});
    CHECK(result.exit_code == 0);
    CHECK(report_of(result)["columns"].size() == 3);
  }
}

TEST_CASE("columns that do not fit are refused with their shape, before any work") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-columns", folder)) return;
  const auto refused = [&](const std::string& b, const std::string& fault) {
    INFO(b);
    check_refused(solve(next_ranks(), folder, b), fault);
  };
  refused("transposed.npy", "found 3 rows and 97 columns; expected 97 rows: write the transpose");
  refused("cut.npy", "found 90 rows and 3 columns; expected 97 rows");
  refused("two.npz", "found 2 arrays (b.npy, x.npy)");
  refused("complex.npy", "number 0 is complex");
  refused("whole.txt", "looks like \"ROW COLUMN VALUE\"");
  const auto with = [&](const std::vector<std::string>& more, const std::string& fault) {
    INFO(more[0]);
    check_refused(solve(next_ranks(), folder, "b.npy", more), fault);
  };
  with({"--solution", folder.path("x.petsc")}, "found for 3 vectors");
  with({"--checkpoint", folder.path("state")}, "found with 3 right-hand sides");
  with({"--initial", folder.path("column1.npy")}, "found 1 column; expected 3");
  check_refused(solve(2, folder, "column1.npy", {"--initial", folder.path("b.npy")}),
                "found 97 rows and 3 columns; expected a vector of 1 column");
  check_refused(run_weft(2, {"jacobi", folder.path("a.npz"), "--rhs", folder.path("b.npy")}),
                "found 97 rows and 3 columns; expected a vector of 1 column");
  check_refused(run_weft(2, {"convert", folder.path("sparse.mtx"), folder.path("out.npy")}),
                "sparse.mtx:2: found 97 rows and 3 columns; expected a square matrix or a vector");
  CHECK_THAT(solve(2, folder, "real.npy").errors, Catch::Contains("imaginary parts are all zero"));
}

TEST_CASE("complex numbers of HDF5 without imaginary parts are real, as is said") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-columns", folder) ||
      !run_foreign_files("write-hdf5-columns", folder))
    return;
  const auto refused = [&](const std::string& b, const std::string& fault) {
    INFO(b);
    check_refused(solve(next_ranks(), folder, b), fault);
  };
  refused("b.h5:complex", "number 0 is complex");
  refused("b.h5:transposed", "write the transpose");
  refused("b.h5:records", "of records");
  const auto real = solve(2, folder, "b.h5:real");
  CHECK(real.exit_code == 0);
  CHECK_THAT(real.errors, Catch::Contains("note: ") && Catch::Contains("b.h5: complex numbers"));
  const auto convert = [&](const std::string& from, const std::string& to) {
    return run_weft(2, {"convert", folder.path(from), folder.path(to), "--threads", "1"});
  };
  CHECK(convert("a.npz", "a.petsc").exit_code == 0);
  const auto matrix = convert("b.h5:a", "b.petsc");
  CHECK(matrix.exit_code == 0);
  CHECK_THAT(matrix.errors, Catch::Contains("the real parts were read"));
  CHECK(read_file(folder.path("a.petsc")) == read_file(folder.path("b.petsc")));
  check_refused(convert("b.h5:a_complex", "c.petsc"), "number 0 is complex");
  // A guess is remarked, too.
  const auto guess = solve(2, folder, "b.npy", {"--initial", folder.path("real.npy")});
  CHECK(guess.exit_code == 0);
  CHECK_THAT(guess.errors, Catch::Contains("real.npy: complex numbers"));
}
