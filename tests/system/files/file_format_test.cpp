// Files that other programs wrote are read, and what weft writes is read by them.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/files/file_runs.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::check_refused;
using weft::tests::convert;
using weft::tests::read_file;
using weft::tests::run_foreign_files;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

}  // namespace

TEST_CASE("matrices of SciPy and in PETSc's format are the same as Matrix Market") {
  const ScratchFolder folder;
  if (!run_foreign_files("write", folder)) return;
  convert(1, folder.path("stored.npz"), folder.path("reference.mtx"));
  const std::string reference = read_file(folder.path("reference.mtx"));
  CHECK(reference.size() > 1000);
  const std::string values = reference.substr(reference.find("\n97 "));
  for (const std::string name : {"deflated.npz", "wide.npz", "short.petsc", "long.bin"})
    for (const int ranks : {1, 3}) {
      convert(ranks, folder.path(name), folder.path("read.mtx"));
      const std::string read = read_file(folder.path("read.mtx"));
      INFO(name);
      CHECK(read.substr(read.find("\n97 ")) == values);
    }
}

TEST_CASE("matrices by columns and as single entries are the same as by rows") {
  const ScratchFolder folder;
  if (!run_foreign_files("write", folder) || !run_foreign_files("write-hdf5", folder)) return;
  convert(1, folder.path("skew_csr.npz"), folder.path("reference.petsc"));
  const std::string reference = read_file(folder.path("reference.petsc"));
  CHECK(reference.size() > 1000);
  for (const std::string name : {"skew_csc.npz", "skew_coo.npz", "skew_csc.h5"})
    for (const int ranks : {1, 3}) {
      convert(ranks, folder.path(name), folder.path("read.petsc"));
      INFO(name);
      CHECK(read_file(folder.path("read.petsc")) == reference);
    }
}

TEST_CASE("SciPy and NumPy read what weft writes, the same bytes on any ranks") {
  const ScratchFolder folder;
  if (!run_foreign_files("write", folder)) return;
  for (const int ranks : {1, 3}) {
    convert(ranks, folder.path("short.petsc"), folder.path("out.npz"));
    convert(ranks, folder.path("deflated.npz"), folder.path("out.petsc"));
    convert(ranks, folder.path("b.petsc"), folder.path("out.npy"));
    CHECK(run_foreign_files("check", folder));
    CHECK(read_file(folder.path("out.petsc")) == read_file(folder.path("short.petsc")));
  }
  convert(2, folder.path("b_big.npy"), folder.path("out.petsc"));
  CHECK(read_file(folder.path("out.petsc")) == read_file(folder.path("b.petsc")));
  convert(2, folder.path("b_column.npy"), folder.path("b.mtx"));
  convert(2, folder.path("b.mtx"), folder.path("out.npy"));
  CHECK(read_file(folder.path("out.npy")) == read_file(folder.path("b.npy")));
}

TEST_CASE("a solve from binary files has the bits of one from text") {
  const ScratchFolder folder;
  if (!run_foreign_files("write", folder)) return;
  convert(1, folder.path("wide.npz"), folder.path("a.mtx"));
  convert(1, folder.path("b.npy"), folder.path("b.mtx"));
  const auto solve = [&](const std::string& matrix, const std::string& b) {
    const auto result = run_weft(2, {"solve", folder.path(matrix), "--rhs", folder.path(b),
                                     "--threads", "1", "--solution", folder.path("x.npy")});
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    return read_file(folder.path("x.npy"));
  };
  const std::string x = solve("a.mtx", "b.mtx");
  CHECK(x.size() == 128 + 97 * 8);
  CHECK(solve("wide.npz", "b.npy") == x);
  CHECK(solve("short.petsc", "b.petsc") == x);
}

TEST_CASE(
    "blocks, diagonals and numbers of every kind are the same as a matrix by rows of doubles") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-kinds", folder)) return;
  const auto read = [&](int ranks, const std::string& name, const std::string& end) {
    convert(ranks, folder.path(name), folder.path("read" + end));
    return read_file(folder.path("read" + end));
  };
  const std::string reference = read(1, "plain.npz", ".petsc");
  CHECK(reference.size() > 1000);
  for (const std::string name :
       {"blocks.npz", "stored_blocks.npz", "half.npz", "complex.npz", "short.npz"})
    for (const int ranks : {1, 3}) {
      INFO(name << ", " << ranks << " ranks");
      CHECK(read(ranks, name, ".petsc") == reference);
    }
  const std::string with_zeros = read(1, "plain_diagonals.npz", ".petsc");
  for (const std::string name : {"diagonals.npz", "stored_diagonals.npz"})
    for (const int ranks : {1, 3}) {
      INFO(name << ", " << ranks << " ranks");
      CHECK(read(ranks, name, ".petsc") == with_zeros);
    }
  CHECK(read(2, "truth.npz", ".petsc") == read(1, "ones.npz", ".petsc"));
  const std::string vector = read(1, "x.npy", ".npy");
  for (const std::string name : {"half.npy", "complex.npy", "python2.npy", "single_complex.npy"}) {
    INFO(name);
    CHECK(read(2, name, ".npy") == vector);
  }
  check_refused({"convert", folder.path("columns.npy"), folder.path("c.mtx")}, "shape (4, 2)");
  check_refused({"convert", folder.path("imaginary.npy"), folder.path("c.mtx")},
                "number 1 is complex");
  const auto said = run_weft(2, {"convert", folder.path("complex.npz"), folder.path("c.mtx")});
  CHECK_THAT(said.errors, Catch::Contains("imaginary parts are all zero"));
  const std::string longer = folder.write("longer.npy", read_file(folder.path("x.npy")) + "junk");
  const auto left = run_weft(2, {"convert", longer, folder.path("c.mtx")});
  CHECK(left.exit_code == 0);
  CHECK_THAT(left.errors, Catch::Contains("4 bytes behind the last number were not read"));
  const std::string more =
      folder.write("more.npz", read_file(folder.path("members.npz")) + "junk!");
  const auto rest = run_weft(2, {"convert", more, folder.path("c.mtx")});
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.errors, Catch::Contains("holds mass.npy, notes.npy, too, which were not read") &&
                              Catch::Contains("5 bytes behind the archive were not read"));
  CHECK(run_weft(2, {"convert", folder.path("plain.npz"), folder.path("c.mtx")}).errors == "");
}

TEST_CASE("a system of Harwell-Boeing, parts of hypre and entries from 0 are solved") {
  const ScratchFolder folder;
  const std::string boeing = folder.write("a.rua",
                                          "title\n5 1 1 1 1\nRSA 2 2 3 0\n"
                                          "(3I2) (3I2) (3F4.1) (2F4.1)\nF 1 0\n"
                                          " 1 3 4\n 1 2 2\n 4.0-1.0 4.0\n 3.0 3.0\n");
  const std::string reference = "%%MatrixMarket matrix array real general\n2 1\n1\n1\n";
  const auto check_solved = [&](int ranks, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "solve");
    arguments.insert(arguments.end(), {"--method", "cg", "--solution", folder.path("x.mtx")});
    const auto result = run_weft(ranks, arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK(read_file(folder.path("x.mtx")) == reference);
  };
  folder.write("A.00001", "1 1 1 1\n1 1 4\n1 0 -1\n");
  folder.write("b.00001", "1 1\n1 3\n");
  const std::string matrix = folder.write("A.00000", "0 0 0 0\n0 0 4\n0 1 -1\n");
  const std::string vector = folder.write("b.00000", "0 0\n0 3\n");
  for (const int ranks : {1, 3}) {
    check_solved(ranks, {boeing, "--rhs", boeing});
    check_solved(ranks, {matrix, "--rhs", vector});
  }
  const std::string entries = folder.write("a.txt", "1 1 4\n2 2 4\n1 2 -1\n2 1 -1\n");
  check_solved(1, {entries, "--rhs", vector, "--base", "1"});
  const auto from_0 = run_weft(1, {"convert", entries, folder.path("a.mtx"), "--base", "0"});
  CHECK(from_0.exit_code == 0);
  CHECK_THAT(read_file(folder.path("a.mtx")), Catch::Contains("\n3 3 4\n2 2 4\n"));
  CHECK(run_weft(1, {"spmv", entries, "--base", "0", "--repetitions", "2"}).exit_code == 0);
  const auto again = run_weft(1, {"solve", entries, "--base", "1"});
  CHECK_THAT(again.output, Catch::Contains("--base 1"));
  check_refused({"solve", folder.write("z.txt", "1 1 4\n0 1 1\n"), "--base", "1"},
                "z.txt:2: found \"0\" as row");
  check_refused({"solve", matrix, "--base", "1"}, "--base with a format that says");
  check_refused({"solve", "poisson3d:5", "--base", "1"},
                "--base: found with the generated problem");
  check_refused({"convert", entries, folder.path("a.rua")}, "an ending that is only read");
  check_refused({"solve", folder.path("A.00001")}, "expected its first one");
}

TEST_CASE("what weft cannot read names a way to read it") {
  const ScratchFolder folder;
  const std::string way = "scipy.io.mmwrite";
  for (const std::string name : {"a.msh", "a.pkl", "a", "a.csv"}) {
    check_refused({"solve", folder.write(name, "1 2 3\n")}, way);
    check_refused({"convert", folder.path(name), folder.path("b.mtx")}, way);
  }
  check_refused({"solve", folder.write("ascii.mat", "  1.0000000e+00  2.0000000e+00\n")}, way);
  check_refused({"solve", folder.write("old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64")}, way);
  check_refused({"solve", folder.write("element.rse", "t\n1 1 1 1\nRSE 2 2 1 4\n")}, way);
  for (const std::string ending :
       {".mtx", ".txt", ".rua", ".00000", ".petsc", ".npz", ".h5", ".mat"}) {
    INFO(ending);
    check_refused({"solve", folder.write("empty" + ending, "")}, "empty" + ending);
    std::filesystem::create_directory(folder.path("folder" + ending));
    check_refused({"solve", folder.path("folder" + ending)}, "folder" + ending);
  }
}

TEST_CASE("files in a wrong or damaged format are refused in one line") {
  const ScratchFolder folder;
  check_refused({"convert", folder.path("a.xyz"), folder.path("b.npz")}, "found another ending");
  check_refused({"solve", "poisson3d:5", "--solution", folder.path("x.npz")},
                "found another ending");
  const std::string junk = folder.write("junk.npz", std::string(100, 'x'));
  check_refused({"solve", junk}, "zip archive");
  check_refused({"solve", folder.write("junk.petsc", std::string(100, 'x'))}, "PETSc");
  check_refused({"solve", folder.write("empty.petsc", "")}, "PETSc");
  if (!run_foreign_files("write", folder)) return;
  check_refused({"solve", folder.path("lil.npz")}, "found the format 'lil'");
  check_refused({"convert", folder.path("b.npy"), folder.path("b.npz")}, "found another ending");
  const std::string whole = read_file(folder.path("short.petsc"));
  const std::string cut = folder.write("cut.petsc", whole.substr(0, whole.size() - 9));
  check_refused({"solve", cut}, "expected a whole file");
  check_refused({"solve", folder.write("head.petsc", whole.substr(0, 12))},
                "in a file of 12 bytes; expected a whole file");
  std::string wild = whole;
  wild[16 + 4 * 97] = '\x7f';  // the first column
  check_refused({"solve", folder.write("wild.petsc", wild)}, "at number 0; expected 0 to 96");
  std::string lengths = whole;
  lengths[16] = '\x7f';
  check_refused({"solve", folder.write("lengths.petsc", lengths)}, "at number 0; expected 0 to ");
  std::string huge = whole;
  huge[4] = huge[8] = '\x11';
  check_refused({"solve", folder.write("huge.petsc", huge)}, "in a file of ");
}

TEST_CASE("a changed number of an archive of SciPy is refused in one line") {
  const ScratchFolder folder;
  const auto check_changed = [&](const std::string& name, const std::string& fault) {
    const std::string whole = read_file(folder.path(name));
    std::string changed = whole;
    const std::size_t data = whole.find("data.npy");
    changed[data + (whole.find("PK", data) - data) / 2] ^= 1;
    check_refused({"solve", folder.write("changed.npz", changed)}, fault);
  };
  CHECK(run_weft(2, {"generate", "poisson2d:40", folder.path("a.npz")}).exit_code == 0);
  check_changed("a.npz", "data.npy is damaged: found the checksum");
  if (!run_foreign_files("write", folder)) return;
  for (const std::string name : {"stored.npz", "skew_csc.npz"})
    check_changed(name, "data.npy is damaged: found the checksum");
  // Here it may be the compressed data that are impossible.
  for (const std::string name : {"deflated.npz", "wide.npz", "skew_coo.npz"})
    check_changed(name, "changed.npz: ");
}

TEST_CASE("an output that is an input is refused under each of its names") {
  const ScratchFolder folder;
  const std::string matrix = folder.path("a.mtx");
  CHECK(run_weft(1, {"generate", "poisson2d:4", matrix}).exit_code == 0);
  std::filesystem::create_symlink("a.mtx", folder.path("soft.mtx"));
  std::filesystem::create_hard_link(matrix, folder.path("hard.mtx"));
  const std::string before = read_file(matrix);
  for (const std::string name : {"a.mtx", "./a.mtx", "soft.mtx", "hard.mtx"}) {
    INFO(name);
    const std::string output = folder.path(name);
    check_refused({"convert", matrix, output}, "the same file");
    check_refused({"generate", matrix, output}, "the same file");
    check_refused({"solve", matrix, "--solution", output}, "the same file");
    check_refused({"solve", "poisson2d:2", "--rhs", matrix, "--json", output}, "the same file");
    check_refused({"spmv", matrix, "--trace", output}, "the same file");
    check_refused({"eigen", matrix, "--vectors", output}, "the same file");
    check_refused({"solve", matrix, "--checkpoint", output}, "the same file");
  }
  check_refused({"solve", matrix, "--json", folder.path("new"), "--trace", folder.path("./new")},
                "the same file");
  CHECK(read_file(matrix) == before);
  CHECK(folder.names() == std::vector<std::string>{"a.mtx", "hard.mtx", "soft.mtx"});
}
