// Parts of hypre's matrices and vectors, on any number of ranks.
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "tests/spmv/texts/text_files.h"

namespace weft::spmv {
namespace {

using tests::all_entries;
using tests::joined;
using tests::TextFiles;

/// The parts of [4 -1 0; -2 5 -1; 0 -2 6], the second one without rows.
std::string put_matrix(const TextFiles& files, const std::string& name) {
  files.put(name + ".00001", "2 1 2 1\n");
  files.put(name + ".00002", "2 2 2 2\n2 2 6.00000000000000e+00\n2 1 -2.00000000000000e+00\n");
  return files.put(name + ".00000",
                   "0 1 0 1\n0 0 4.00000000000000e+00\n0 1 -1.00000000000000e+00\n"
                   "1 1 5.00000000000000e+00\n1 0 -2.00000000000000e+00\n"
                   "1 2 -1.00000000000000e+00\n");
}

}  // namespace

TEST_CASE("all parts of a matrix or vector of hypre are read by its first one") {
  const TextFiles files;
  const std::string path = put_matrix(files, "IJ.A");
  Remarks remarks;
  CHECK(files.matrix(path, remarks) == all_entries);
  CHECK(files.matrix(path, remarks, IndexBase::found, PartitionBy::nonzeros) == all_entries);
  CHECK(remarks.empty());
  const auto size = collective_matrix_file_size(files.world, path);
  CHECK(size.row_count == 3);
  CHECK(size.nonzero_count == 7);
  CHECK(collective_look_into(files.world, path).is_matrix);

  files.put("IJ.b.00001", "1 2\n2 -3.50000000000000e+00\n1 2.00000000000000e+00\n");
  const std::string b = files.put("IJ.b.00000", "0 0\n0 1.00000000000000e+00");
  CHECK(files.vector(b, 3) == "1 2 -3.5 ");
  CHECK_FALSE(collective_look_into(files.world, b).is_matrix);
  CHECK(collective_look_into(files.world, b).row_count == 3);
  CHECK_THAT(files.fault_of([&] { files.vector(b, 4); }),
             Catch::Contains("length 3; expected length 4"));
  CHECK_THAT(files.fault_of([&] { files.vector(path, 3); }), Catch::Contains("found a matrix"));
  CHECK_THAT(files.fault_of(b), Catch::Contains("found a vector"));

  const std::string from_1 = files.put("one.00000", "1 2 1 2\n1 1 4\n1 2 -1\n2 2 5\n");
  CHECK(files.matrix(from_1, remarks) == "0,0=4 0,1=-1 1,1=5 ");
  CHECK_THAT(joined(remarks), Catch::Contains("count from 1"));
}

TEST_CASE("missing and foreign parts of hypre are one line") {
  const TextFiles files;
  const std::string path = put_matrix(files, "A");
  const auto remove = [&](const std::string& name) {
    files.world.barrier();
    if (files.world.is_root()) std::filesystem::remove(files.path(name));
    files.world.barrier();
  };
  CHECK_THAT(files.fault_of(files.path("A.00002")),
             Catch::StartsWith("A.00002: found part 00002") && Catch::Contains("A.00000"));
  files.put("A.00003", "2 2 2 2\n2 2 1\n");  // of a run on more ranks
  CHECK_THAT(files.fault_of(path),
             Catch::StartsWith("A.00003:1: found rows from 2 on") && Catch::Contains("twice"));
  files.put("A.00003", "4 4 4 4\n4 4 1\n");
  CHECK_THAT(files.fault_of(path),
             Catch::StartsWith("A.00003:1: found rows from 4 on") && Catch::Contains("left out"));
  files.put("A.00003", "3 3\n3 1\n");
  CHECK_THAT(files.fault_of(path), Catch::StartsWith("A.00003:1: found a part of a vector"));
  remove("A.00001");
  CHECK_THAT(files.fault_of(path),
             Catch::StartsWith("A.00001: is missing, though there is A.00002"));
  remove("A.00002");
  remove("A.00003");
  CHECK_THAT(files.fault_of(path), Catch::StartsWith("A.00000:6: found \"2\" as column") &&
                                       Catch::Contains("from 0 to 1, the rows of all parts"));
  remove("A.00000");
  CHECK_THAT(files.fault_of(path), Catch::Contains("A.00000: cannot be opened"));
}

TEST_CASE("what is wrong in a part of hypre is one line with its place") {
  const TextFiles files;
  const auto fault_of = [&](const std::string& text) {
    return files.fault_of(files.put("wrong.00000", text));
  };
  CHECK_THAT(fault_of(""), Catch::StartsWith("wrong.00000:1: found \"\""));
  CHECK_THAT(fault_of("0 1 0\n"), Catch::StartsWith("wrong.00000:1: found \"0 1 0\""));
  CHECK_THAT(fault_of("0 -1 0 -1\n"), Catch::Contains("found no rows"));
  CHECK_THAT(fault_of("7 8 7 8\n7 7 1\n"), Catch::Contains("found 7 as the first row"));
  CHECK_THAT(fault_of("0 1 0 1\n0 0 1\n2 0 1\n"),
             Catch::StartsWith("wrong.00000:3: found \"2\" as row") &&
                 Catch::Contains("from 0 to 1, the rows of this part"));
  CHECK_THAT(fault_of("0 1 0 1\n\n0 0 1\n0 x 1\n"),
             Catch::StartsWith("wrong.00000:4: found \"x\" as column"));
  CHECK_THAT(fault_of("0 1 0 1\n0 0 1\n1 1\n"),
             Catch::StartsWith("wrong.00000:3: the line ends before the value"));
  CHECK_THAT(fault_of("0 1 0 1\n0 0 1\n1 1 nan\n"), Catch::Contains("expected a finite number"));
  CHECK_THAT(fault_of("0 1 0 1\n0 0 1 , 0\n"), Catch::Contains("complex number of hypre"));
  CHECK_THAT(fault_of("0 1 0 1\n0 0 1 7\n"), Catch::Contains("expected nothing more"));
  const auto fault_of_vector = [&](const std::string& text) {
    return files.fault_of([&] { files.vector(files.put("wrong.00000", text), 2); });
  };
  CHECK_THAT(fault_of_vector("0 1\n0 1\n"), Catch::Contains("found no value for row 1"));
  CHECK_THAT(fault_of_vector("0 1\n0 1\n0 1\n1 3\n"),
             Catch::Contains("found more than one value for row 0"));
}

TEST_CASE("entries as text count from where the caller says") {
  const TextFiles files;
  Remarks remarks;
  const std::string from_1 = files.put("a.txt", "1 1 4\n2 1 -1\n2 2 5\n");
  CHECK(files.matrix(from_1, remarks) == "0,0=4 1,0=-1 1,1=5 ");
  CHECK(files.matrix(from_1, remarks, IndexBase::one) == "0,0=4 1,0=-1 1,1=5 ");
  CHECK(files.matrix(from_1, remarks, IndexBase::zero) == "1,1=4 2,1=-1 2,2=5 ");
  CHECK(collective_matrix_file_size(files.world, from_1, IndexBase::zero).row_count == 3);
  CHECK(collective_look_into(files.world, from_1, IndexBase::zero).row_count == 3);
  const auto fault_of = [&](const std::string& path, IndexBase base) {
    return files.fault_of([&] { files.matrix(path, remarks, base); });
  };
  const std::string from_0 = files.put("b.txt", "1 1 4\n0 1 -1\n");
  CHECK(files.matrix(from_0, remarks) == "0,1=-1 1,1=4 ");
  CHECK(fault_of(from_0, IndexBase::one) ==
        "b.txt:2: found \"0\" as row; expected a whole number of at least 1");
  CHECK_THAT(fault_of(files.put("c.txt", "1\n2\n"), IndexBase::one), Catch::Contains("a vector"));
  CHECK_THAT(fault_of(files.put("f.txt", "#  HashMatrix Matrix (COO)\n1 1 1 0 0 0 0\n0 0 2\n"),
                      IndexBase::zero),
             Catch::Contains("a header that says"));
  CHECK_THAT(fault_of(files.put("m.mtx",
                                "%%MatrixMarket matrix coordinate real general\n"
                                "1 1 1\n1 1 2\n"),
                      IndexBase::one),
             Catch::Contains("base with a format that says"));
}

}  // namespace weft::spmv
