// HDF5 of other programs is read, and what weft writes is read by them.
#include <string>

#include <catch2/catch.hpp>

#include "tests/system/files/file_runs.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::check_refused;
using weft::tests::convert;
using weft::tests::read_file;
using weft::tests::run_foreign_files;
using weft::tests::ScratchFolder;

}  // namespace

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
