// A file with one triangle of a matrix is not solved until a word says what it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// The entries of `general`, a Matrix Market file, with row <= column, or the others too, as zeros.
std::string half_of(const std::string& general, bool keeps_zeros) {
  std::ifstream file(general);
  std::string banner;
  std::getline(file, banner);
  while (file.peek() == '%') file.ignore(1 << 20, '\n');
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 0;
  file >> rows >> columns >> count;
  std::string entries;
  std::int64_t kept = 0;
  std::int64_t i = 0;
  std::int64_t j = 0;
  for (std::string value; file >> i >> j >> value;) {
    if (i > j && !keeps_zeros) continue;
    ++kept;
    entries += std::to_string(i) + " " + std::to_string(j) + " " + (i > j ? "0" : value) + "\n";
  }
  return banner + "\n" + std::to_string(rows) + " " + std::to_string(columns) + " " +
         std::to_string(kept) + "\n" + entries;
}

/// What is in a Matrix Market file behind its comments.
std::string entries_of(const std::string& path) {
  const std::string text = read_file(path);
  return text.substr(text.find("\n216 "));
}

/// On one rank and on three in turn.
int next_ranks() {
  static int ranks = 1;
  return ranks = 4 - ranks;
}

const std::string line =
    ": found entries above the diagonal only; expected both triangles, or a word: --triangle "
    "mirrored for half of a symmetric matrix, --triangle as-is for a triangular one\n";

}  // namespace

TEST_CASE("half of a matrix in any format is refused, or becomes the whole one") {
  const ScratchFolder folder;
  const std::string whole = folder.path("whole.mtx");
  CHECK(run_weft(1, {"generate", "irregular:216,nnzr=7,bandwidth=30", whole}).exit_code == 0);
  const bool keeps_zeros = GENERATE(false, true);
  const std::string half = folder.write("half.mtx", half_of(whole, keeps_zeros));
  for (const std::string name :
       {"half.mtx", "half.mtx.gz", "half.petsc", "half.bin", "half.npz", "half.h5"}) {
    INFO(name);
    const std::string path = folder.path(name);
    const int ranks = next_ranks();
    if (name != "half.mtx") {
      const auto copied = run_weft(ranks, {"convert", half, path});
      if (copied.errors.find("HDF5") != std::string::npos) continue;  // a build without it
      CHECK(copied.exit_code == 0);
      CHECK(copied.errors == "note: " + half + line);
    }
    for (const std::string command : {"solve", "jacobi"}) {
      const auto refused = run_weft(ranks, {command, path});
      CHECK(refused.exit_code == 2);
      CHECK(refused.output == "");
      CHECK(refused.errors == "weft: " + path + line);
    }
    const auto mirrored =
        run_weft(ranks, {"convert", path, folder.path("read.mtx"), "--triangle", "mirrored"});
    CHECK(mirrored.exit_code == 0);
    CHECK(entries_of(folder.path("read.mtx")) == entries_of(whole));
  }
}

TEST_CASE("a mirrored half has the solution of the matrix, and a triangle its own") {
  const ScratchFolder folder;
  const std::string whole = folder.path("whole.mtx");
  CHECK(run_weft(1, {"generate", "irregular:216,nnzr=7,bandwidth=30", whole}).exit_code == 0);
  const std::string half = folder.write("half.mtx", half_of(whole, false));
  const auto solve = [&](const std::string& matrix, const std::vector<std::string>& words) {
    std::vector<std::string> arguments{
        "solve", matrix, "--rhs", "random:3", "--solution", folder.path("x.mtx"), "--json", "-"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto result = run_weft(next_ranks(), arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK(result.errors == "");
    CHECK(report_of(result)["status"] == "converged");
    return read_file(folder.path("x.mtx"));
  };
  const std::vector<std::string> with_cg{"--method", "cg"};
  const std::string x = solve(whole, with_cg);
  CHECK(solve(half, {"--method", "cg", "--triangle", "mirrored"}) == x);
  CHECK(solve(half, {"--triangle", "as-is"}) != x);
  const auto again = run_weft(1, {"solve", half, "--triangle", "mirrored"});
  CHECK_THAT(again.output, Catch::Contains("--triangle mirrored"));
  const auto jacobi = run_weft(2, {"jacobi", half, "--triangle", "mirrored"});
  CHECK(jacobi.exit_code == 0);
}

TEST_CASE("what multiplies a half says so, and explicit zeros are said") {
  const ScratchFolder folder;
  const std::string half =
      folder.write("half.mtx",
                   "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 2\n1 2 -1\n2 2 2\n"
                   "2 3 -1\n3 3 2\n");
  for (const std::string command : {"spmv", "roofline"}) {
    std::vector<std::string> arguments{command, half, "--repetitions", "1"};
    if (command == "roofline")
      arguments.insert(arguments.end(), {"--kernels", "spmv", "--no-likwid"});
    CHECK_THAT(run_weft(2, arguments).errors, Catch::Contains("note: " + half + line));
    arguments.insert(arguments.end(), {"--triangle", "as-is"});
    CHECK_THAT(run_weft(2, arguments).errors, !Catch::Contains("note: "));
  }
  const std::string zeros =
      folder.write("zeros.mtx",
                   "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 2\n1 2 -1\n2 1 -1\n"
                   "2 2 2\n2 3 0\n3 3 2\n3 1 0\n");
  const auto solved = run_weft(2, {"solve", zeros, "--json", "-"});
  CHECK(solved.exit_code == 0);
  CHECK(solved.errors ==
        "note: " + zeros +
            ": 2 of 7 entries are exact zeros off the diagonal and left out of the "
            "operator\n");
  CHECK(report_of(solved)["problem"]["nonzeros"] == 5);
  const auto copied = run_weft(2, {"convert", zeros, folder.path("copy.mtx")});
  CHECK(copied.errors == "");
  CHECK_THAT(read_file(folder.path("copy.mtx")), Catch::Contains("\n3 3 7\n"));
}

TEST_CASE("words about triangles without effect are refused") {
  const ScratchFolder folder;
  const auto check = [](const std::vector<std::string>& arguments, const std::string& fault) {
    const auto result = run_weft(next_ranks(), arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.errors, Catch::Contains(fault));
    CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  };
  const std::string generated = "--triangle: found with the generated problem poisson3d:5";
  check({"solve", "poisson3d:5", "--triangle", "as-is"}, generated);
  check({"spmv", "poisson3d:5", "--triangle", "mirrored"}, generated);
  check({"jacobi", "poisson3d:5", "--triangle", "as-is"}, generated);
  check({"solve", "poisson3d:5", "--operator", "stencil", "--triangle", "as-is"},
        "--triangle: found with --operator stencil");
  check({"jacobi", "--grid", "5", "--triangle", "as-is"}, "--triangle: found with --grid");
  const std::string unequal =
      folder.write("unequal.mtx",
                   "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 -1\n2 1 -3\n"
                   "2 2 2\n");
  check({"solve", unequal, "--triangle", "mirrored"},
        unequal + ": found -1 for row 1, column 2, but -3 for row 2, column 1");
}
