// Files that other programs wrote are read, and what weft writes is read by them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_foreign_files;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

void convert(int ranks, const std::string& from, const std::string& to) {
  INFO(ranks << " ranks: " << from << " to " << to);
  const auto result = run_weft(ranks, {"convert", from, to, "--threads", "2"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
}

/// On one rank and on three in turn.
void check_refused(const std::vector<std::string>& arguments, const std::string& fault) {
  static int ranks = 1;
  ranks = 4 - ranks;
  const auto result = run_weft(ranks, arguments);
  INFO(ranks << " ranks: " << result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output == "");
  CHECK_THAT(result.errors, Catch::Contains(fault) && Catch::Contains("expected"));
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
}

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

TEST_CASE("matrices and vectors of h5py are read, and h5py reads what weft writes") {
  const ScratchFolder folder;
  if (!run_foreign_files("write", folder) || !run_foreign_files("write-hdf5", folder)) return;
  convert(1, folder.path("stored.npz"), folder.path("reference.petsc"));
  const std::string reference = read_file(folder.path("reference.petsc"));
  for (const std::string name :
       {"plain.h5", "several.hdf5:systems/second", "packed.h5:a", "wide.h5"}) {
    convert(3, folder.path(name), folder.path("read.petsc"));
    INFO(name);
    CHECK(read_file(folder.path("read.petsc")) == reference);
  }
  for (const std::string name : {"several.hdf5:b", "b.h5"}) {
    convert(3, folder.path(name), folder.path("read.petsc"));
    INFO(name);
    CHECK(read_file(folder.path("read.petsc")) == read_file(folder.path("b.petsc")));
  }
  convert(2, folder.path("packed.h5:b"), folder.path("read.petsc"));
  CHECK(read_file(folder.path("read.petsc")).size() == 8 + 97 * 8);
  std::string first;
  for (const int ranks : {1, 3}) {
    convert(ranks, folder.path("deflated.npz"), folder.path("out.h5"));
    convert(ranks, folder.path("b.npy"), folder.path("x.h5:deep/down/x"));
    CHECK(run_foreign_files("check-hdf5", folder));
    if (first.empty()) first = read_file(folder.path("out.h5"));
    CHECK(read_file(folder.path("out.h5")) == first);
  }
  check_refused({"solve", folder.path("bsr.h5")}, "found the format 'bsr'");
  check_refused({"solve", folder.path("lzf.h5")}, "found numbers behind the filter 'lzf'");
  check_refused({"solve", folder.path("oblong.h5")}, "a square matrix");
  check_refused({"solve", folder.path("b.h5")}, "found no groups with data");
  check_refused({"solve", folder.path("plain.h5:none")}, "found no group none");
  check_refused({"convert", folder.path("empty.h5"), folder.path("e.mtx")}, "found no datasets");
  check_refused({"solve", folder.write("junk.h5", std::string(100, 'x'))}, "HDF5 file");
  const std::string whole = read_file(folder.path("plain.h5"));
  check_refused({"solve", folder.write("cut.h5", whole.substr(0, whole.size() / 2))}, "HDF5 file");
}

TEST_CASE("HDF5 of other programs is read as what it holds, wherever its numbers lie") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-dialects", folder)) return;
  const auto petsc_of = [&](int ranks, const std::string& name) {
    convert(ranks, folder.path(name), folder.path("read.petsc"));
    return read_file(folder.path("read.petsc"));
  };
  const std::string matrix = petsc_of(1, "three.npz");
  const std::string three = petsc_of(1, "three.npy");
  const std::string sixty = petsc_of(1, "sixty.npy");
  for (const int ranks : {1, 3}) {
    for (const std::string name :
         {"matlab.mat", "matlab.mat:A", "octave.h5", "octave.h5:A", "petsc.h5:A",
          "cells.h5ad:obsp/near", "store.h5:A", "links.h5:A"}) {
      INFO(name);
      CHECK(petsc_of(ranks, name) == matrix);
    }
    for (const std::string name : {"matlab.mat:b", "octave.h5:b"}) {
      INFO(name);
      CHECK(petsc_of(ranks, name) == three);
    }
    for (const std::string name :
         {"petsc.h5:x", "petsc.h5:packed", "store.h5:x", "store.h5:soft", "links.h5:x"}) {
      INFO(name);
      CHECK(petsc_of(ranks, name) == sixty);
    }
  }
  const auto refused = [&](const std::string& name, const std::string& fault) {
    check_refused({"convert", folder.path(name), folder.path("none.mtx")}, fault);
  };
  refused("matlab.mat:wide", "found 2 rows and 2 columns");
  refused("matlab.mat:word", "class char");
  refused("old.mat", "MATLAB before 7.3");
  refused("petsc.h5:complex", "complex");
  refused("store.h5:dangling", "a link to /none");
  refused("store.h5:raw", "external storage");
  refused("links.h5:gone", "a link to missing.h5:/x");
  refused("links.h5:virtual", "a virtual dataset");
  check_refused({"generate", "poisson2d:4", folder.path("out.mat")}, "h5read");
  if (run_foreign_files("newer", folder)) refused("newer.h5:x", "h5repack");
}

TEST_CASE("a name in an HDF5 file is added or replaced, and all else stays") {
  const ScratchFolder folder;
  if (!run_foreign_files("write-dialects", folder) || !run_foreign_files("write-kept", folder))
    return;
  const std::string store = read_file(folder.path("store.h5"));
  convert(3, folder.path("sixty.npy"), folder.path("kept.h5:x"));
  convert(1, folder.path("sixty.npy"), folder.path("kept.h5:new/er/x"));
  convert(3, folder.path("three.npz"), folder.path("kept.h5:A"));
  // Without a name they are the vector and the matrix in it.
  convert(1, folder.path("sixty.npy"), folder.path("kept.h5"));
  convert(3, folder.path("three.npz"), folder.path("kept.h5"));
  CHECK(run_foreign_files("check-kept", folder));
  const std::string before = read_file(folder.path("kept.h5"));
  const auto refused = [&](const std::string& output, const std::string& fault) {
    check_refused({"convert", folder.path("sixty.npy"), folder.path(output)}, fault);
  };
  refused("kept.h5:A", "found the group A");
  refused("kept.h5:other/x", "found other as a dataset");
  convert(1, folder.path("three.npz"), folder.path("groups.h5:vector"));
  refused("groups.h5", "found the group vector");
  refused("kept.h5:away/y", "a link to another file");
  check_refused({"convert", folder.path("kept.h5:x"), folder.path("kept.h5:copy")},
                "the same file");
  CHECK(read_file(folder.path("kept.h5")) == before);
  CHECK(read_file(folder.path("store.h5")) == store);
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

TEST_CASE("a solution on a grid is written as an image of VTK, the same bytes on any ranks") {
  const ScratchFolder folder;
  const std::string numpy = folder.path("x.npy");
  const std::string image = folder.path("x.vti");
  std::string first;
  for (const std::string kind : {"matrix", "stencil"})
    for (const int ranks : {1, 3}) {
      INFO(kind << ", " << ranks << " ranks");
      const std::vector<std::string> solve{
          "solve", "poisson3d:9x8x7", "--operator", kind, "--threads", "1", "--solution"};
      for (const std::string& path : {numpy, image}) {
        std::vector<std::string> arguments = solve;
        arguments.push_back(path);
        CHECK(run_weft(ranks, arguments).exit_code == 0);
      }
      const std::string found = read_file(image);
      if (first.empty()) first = found;
      CHECK(found == first);
    }
  CHECK_THAT(first, Catch::Contains("<ImageData WholeExtent=\"0 8 0 7 0 6\""));
  CHECK_THAT(first, Catch::EndsWith("</VTKFile>\n"));
  // Appended data: the number of bytes, then the values in the order of the rows.
  const std::size_t value_bytes = 504 * sizeof(double);  // 9·8·7 points
  const std::string values = read_file(numpy).substr(read_file(numpy).size() - value_bytes);
  const std::size_t begin = first.find("<AppendedData encoding=\"raw\">\n   _");
  CHECK(begin != std::string::npos);
  const std::string data = first.substr(first.find('_', begin) + 1);
  std::uint64_t count = 0;
  std::memcpy(&count, data.data(), sizeof(count));
  CHECK(count == value_bytes);
  CHECK(data.substr(sizeof(count), value_bytes) == values);

  const std::string converted = folder.path("converted.vti");
  CHECK(run_weft(2, {"convert", numpy, converted, "--grid", "9x8x7"}).exit_code == 0);
  CHECK(read_file(converted) == first);
  check_refused({"convert", numpy, converted}, "found without a grid");
  check_refused({"convert", numpy, converted, "--grid", "9x8x6"}, "504 rows");
  const auto shape_of = [&](const std::string& problem) {
    const std::string wind = folder.path("wind.vti");
    CHECK(run_weft(2, {"solve", problem, "--method", "gmres", "--solution", wind}).exit_code == 0);
    return read_file(wind);
  };
  CHECK_THAT(shape_of("convection3d:3x4x5,1,1,1"), Catch::Contains("WholeExtent=\"0 2 0 3 0 4\""));
  check_refused({"solve", "irregular:100,nnzr=5,bandwidth=9,seed=1", "--solution", image},
                "a problem on a grid");
}

TEST_CASE("an image of VTK in a piece for each rank has the values of the one in one file") {
  const ScratchFolder folder;
  const std::size_t plane_bytes = std::size_t{72} * sizeof(double);
  CHECK(run_weft(1, {"solve", "poisson3d:9x8x7", "--solution", folder.path("x.npy")}).exit_code ==
        0);
  const std::string values = read_file(folder.path("x.npy")).substr(128);
  CHECK(values.size() == 7 * plane_bytes);
  const auto write = [&](int ranks, const std::string& grid, const std::string& name) {
    CHECK(run_weft(ranks, {"convert", folder.path("x.npy"), folder.path(name), "--grid", grid})
              .exit_code == 0);
    return read_file(folder.path(name));
  };
  CHECK_THAT(write(3, "9x8x7", "x.pvti"),
             Catch::Contains("<PImageData WholeExtent=\"0 8 0 7 0 6\" GhostLevel=\"0\"") &&
                 Catch::Contains("<Piece Extent=\"0 8 0 7 0 2\" Source=\"x_0.vti\"/>") &&
                 Catch::Contains("<Piece Extent=\"0 8 0 7 2 4\" Source=\"x_1.vti\"/>") &&
                 Catch::Contains("<Piece Extent=\"0 8 0 7 4 6\" Source=\"x_2.vti\"/>"));
  for (const std::size_t rank : {0U, 1U, 2U}) {
    const std::string piece = read_file(folder.path("x_" + std::to_string(rank) + ".vti"));
    const std::size_t begin = piece.find("\n   _") + 5 + sizeof(std::uint64_t);
    CHECK(piece.substr(begin, 3 * plane_bytes) ==
          values.substr(2 * rank * plane_bytes, 3 * plane_bytes));
  }
  // One space between points for three ranks, and none.
  CHECK_THAT(write(3, "252x2x1", "two.pvti"), Catch::Contains("two_2.vti"));
  CHECK_FALSE(std::filesystem::exists(folder.path("two_1.vti")));
  for (const std::string name : {"x", "two"}) run_foreign_files("check-pvti " + name, folder);
}
