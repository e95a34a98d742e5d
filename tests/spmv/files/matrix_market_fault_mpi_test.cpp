// Messages of the reader about faulty files, the same on every rank.
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_reader.h"
#include "tests/spmv/files/matrix_market_support.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;

std::string fault_of_path(const Communicator& world, const std::string& path) {
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy{});
  return tests::input_error_of(
      [&] { collective_read_matrix_market(world, team, path, PartitionBy::nonzeros); });
}

// The message about a file of this text, plain and compressed alike.
void check_fault(const std::string& text, const std::string& expected) {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  CHECK(fault_of_path(world, folder.put("a.mtx", text)) == "a.mtx:" + expected);
  CHECK(fault_of_path(world, folder.put("b.mtx.gz", text)) == "b.mtx.gz:" + expected);
}

const std::string start = "%%MatrixMarket matrix coordinate real general\n%\n6 6 6\n";

TEST_CASE("a file that is not there, or a folder, is named") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  CHECK(fault_of_path(world, folder / "none.mtx") ==
        "none.mtx: cannot be opened (No such file or directory); expected a readable file");
  CHECK(fault_of_path(world, folder / ".") == ".: is a directory; expected a file");
}

TEST_CASE("a file that one rank alone lacks is named with the rank") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const std::string path =
      folder.put("a.mtx", start + "1 1 1\n2 2 1\n3 3 1\n4 4 1\n5 5 1\n6 6 1\n");
  for (const int lacking : {0, world.size() - 1}) {
    const bool lacks = world.rank() == lacking;
    const std::string fault = fault_of_path(world, lacks ? folder / "none.mtx" : path);
    if (world.size() == 1)
      CHECK_THAT(fault, Catch::StartsWith("none.mtx: cannot be opened"));
    else
      CHECK_THAT(fault, Catch::Contains("rank " + std::to_string(lacking) + " on ") &&
                            Catch::Contains("none.mtx: cannot be opened"));
  }
}

TEST_CASE("faults of the header have the number of their line") {
  const std::string banner =
      "\"%%MatrixMarket matrix coordinate|array real|integer|unsigned-integer|complex|pattern "
      "general|symmetric|skew-symmetric|hermitian\"";
  check_fault("hello\n1 1 1\n", "1: found \"hello\"; expected " + banner);
  check_fault("%%MatrixMarket matrix coordinate real general\n%\n\n6 6\n",
              "4: found \"6 6\"; expected the size line \"ROWS COLUMNS ENTRIES\"");
  check_fault("%%MatrixMarket matrix coordinate real general\n6 7 1\n",
              "2: found 6 rows and 7 columns; expected a square matrix");
  check_fault("%%MatrixMarket matrix coordinate real general\n%\n%",
              "4: the file ends in its header; expected the size line");
  check_fault("%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n",
              "1: found \"quaternion\" in the first line; expected \"real\", \"integer\", "
              "\"complex\" or \"pattern\"");
}

TEST_CASE("a complex matrix is refused at its first imaginary part that is not 0") {
  check_fault("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 0\n2 2 1 -2\n",
              "4: found the imaginary part -2; expected 0, because only real systems are solved");
}

TEST_CASE("faults of an array have the number of their line") {
  const std::string array = "%%MatrixMarket matrix array real symmetric\n2 2\n";
  check_fault(array + "1\n2\n",
              "4: the file ends after 2 entries; expected the 3 of its size line");
  check_fault(
      array + "1\n2\n3\n4\n",
      "6: found more entries; expected the file to end after the 3 entries of its size line");
  check_fault(array + "1\nx\n3\n", "4: found \"x\"; expected a finite number");
}

TEST_CASE("an empty file is an empty file") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  CHECK_THAT(fault_of_path(world, folder.put("a.mtx", "")),
             Catch::StartsWith("a.mtx:1: the file is empty; expected"));
}

TEST_CASE("faults of the data have the number of their line") {
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n6 7 6\n",
              "9: found \"7\" as column; expected a whole number from 1 to 6");
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n\n%\n4 4 four\n5 5 5\n6 6 6\n",
              "9: found \"four\"; expected a finite number");
  check_fault(start + "1 1 1\n2 2 nan\n3 3 3\n4 4 4\n5 5 5\n6 6 6\n",
              "5: found \"nan\"; expected a finite number");
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5\n6 6 6\n",
              "8: the line ends before the value; expected a number");
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5 5\n6 6 6\n",
              "8: found \"5\" at the end of the line; expected nothing more");
}

TEST_CASE("a wrong number of entries is told with both numbers") {
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n4 4 4\n",
              "7: the file ends after 4 entries; expected the 6 of its size line");
  check_fault(start, "3: the file ends after 0 entries; expected the 6 of its size line");
  check_fault(start.substr(0, start.size() - 1),
              "3: the file ends after 0 entries; expected the 6 of its size line");
  check_fault(start + "1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n6 6 6\n\n6 5 1\n",
              "11: found more entries; expected the file to end after the 6 entries of its size "
              "line");
}

TEST_CASE("of several faults the first one is told, though a later one is found earlier") {
  check_fault(start + "1 1 1\n2 2 x\n3 3 3\n4 4 4\n9 9 9\n6 6 6\n6 6 6\n",
              "5: found \"x\"; expected a finite number");
}

TEST_CASE("unequal entries in both triangles are told with both lines") {
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 ";
  check_fault(symmetric + "4\n1 1 1\n\n2 1 0.1\n% 5\n3 3 2\n1 2 0.25\n",
              "9: found 0.25 for row 1, column 2, but line 6 has 0.1 for row 2, column 1; expected "
              "equal values in both triangles of a symmetric matrix, or entries in one of them");
  check_fault(symmetric + "5\n2 3 1\n2 3 2\n3 2 1\n1 3 1\n3 1 1",
              "6: found 1 for row 3, column 2, but line 4 has 3 for row 2, column 3; expected "
              "equal values in both triangles of a symmetric matrix, or entries in one of them");
  check_fault("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n1 2 5\n2 1 5\n",
              "4: found 5 for row 2, column 1, but line 3 has 5 for row 1, column 2; expected "
              "opposite values in both triangles of a skew-symmetric matrix, or entries in one of "
              "them");
}

TEST_CASE("a fault late in a large file has the right line") {
  std::string text = "%%MatrixMarket matrix coordinate integer general\n1000 1000 60000\n";
  for (int i = 0; i < 60000; ++i)
    text += std::to_string(i % 1000 + 1) + (i == 54321 ? " 0 1\n" : " 1 1\n");
  check_fault(text, "54324: found \"0\" as column; expected a whole number from 1 to 1000");
}

TEST_CASE("a compressed file that is cut off or damaged is told") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  std::string text = "%%MatrixMarket matrix coordinate integer general\n1000 1000 60000\n";
  for (int i = 0; i < 60000; ++i) text += std::to_string(i * 7 % 1000 + 1) + " 1 1\n";
  const std::string path = folder.put("a.mtx.gz", text);
  const std::string packed = tests::read_file(path);
  world.barrier();
  if (world.is_root()) tests::write_file(path, packed.substr(0, packed.size() - 9));
  world.barrier();
  CHECK_THAT(
      fault_of_path(world, path),
      Catch::StartsWith("a.mtx.gz:6") &&
          Catch::EndsWith(": the compressed data ends too early; expected a complete gzip file"));
  world.barrier();
  if (world.is_root()) tests::write_file(path, packed.substr(0, packed.size() - 6) + "xxxxxx");
  world.barrier();
  CHECK_THAT(fault_of_path(world, path),
             Catch::StartsWith("a.mtx.gz:60003: the compressed data is damaged"));
}

TEST_CASE("a matrix with too many rows for the ranks is refused at its size line") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  CHECK_THAT(fault_of_path(world, folder.put("a.mtx",
                                             "%%MatrixMarket matrix coordinate real general\n"
                                             "99999999999 99999999999 1\n1 1 1\n")),
             Catch::StartsWith("a.mtx:2: found 99999999999 rows; expected at most"));
}

}  // namespace
}  // namespace weft::spmv
