#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_reader.h"
#include "tests/spmv/files/matrix_market_support.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;

int thread_count() {
  const char* threads = std::getenv("WEFT_TEST_THREADS");
  return threads ? std::atoi(threads) : 1;
}

// The whole matrix as "row column value" lines, on rank 0; elsewhere empty.
std::string gathered(const Communicator& world, const DistributedMatrix& matrix) {
  std::ostringstream own;
  own.precision(17);
  for (LocalIndex row = 0; row < matrix.rows.row_count; ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (auto k = matrix.rows.row_offsets[at]; k < matrix.rows.row_offsets[at + 1]; ++k)
      own << matrix.first_row() + row + 1 << ' '
          << matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)]) + 1 << ' '
          << matrix.rows.values[static_cast<std::size_t>(k)] << '\n';
  }
  std::string all;
  for (const std::string& part : world.gather(own.str())) all += part;
  return all;
}

// Reads `text` plain and compressed, cut both ways, and compares with the lines expected and with
// the remark, which begins behind the name of the file; "" for none.
void check_matrix(const std::string& text, const std::string& expected,
                  const std::string& remark = "") {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    const std::string path = folder.put(name, text);
    for (const PartitionBy by : {PartitionBy::rows, PartitionBy::nonzeros}) {
      std::string found;
      CHECK(tests::input_error_of([&] {
              Remarks remarks;
              found =
                  gathered(world, collective_read_matrix_market(world, team, path, by, remarks));
              CHECK(remarks == (remark.empty() ? Remarks{} : Remarks{path + ": " + remark}));
            }) == "");
      if (world.is_root()) CHECK(found == expected);
    }
  }
}

// Reads `text` from a file of this name as above.
void check_triplets(const std::string& name, const std::string& text, const std::string& expected,
                    const std::string& remark) {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string path = folder.put(name, text);
  for (const PartitionBy by : {PartitionBy::rows, PartitionBy::nonzeros}) {
    std::string found;
    CHECK(tests::input_error_of([&] {
            Remarks remarks;
            found = gathered(world, collective_read_matrix_market(world, team, path, by, remarks));
            CHECK(remarks == Remarks{path + ": " + remark});
          }) == "");
    if (world.is_root()) CHECK(found == expected);
  }
}

std::string triplet_fault(const std::string& text) {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string path = folder.put("a.txt", text);
  return tests::input_error_of(
      [&] { collective_read_matrix_market(world, team, path, PartitionBy::rows); });
}

TEST_CASE("entries as text count from 0 where there is a 0, else from 1") {
  const std::string expected = "1 1 4\n1 3 -1\n2 2 2.5\n3 3 1e-10\n";
  check_triplets("a.txt", "# row column value\n% more\n\n0 0 4\n2 2 1D-10\n0 2 -1\n1 1 2.5",
                 expected, "a matrix of 3 rows counted from 0");
  check_triplets("a.ijv", "1 1 4\r\n3\t3 1e-10\r\n% here\r\n1 3 -1\r\n2 2 2.5\r\n", expected,
                 "a matrix of 3 rows counted from 1");
  check_triplets("a.dat", "1 1\n2 1\n", "1 1 1\n2 1 1\n", "a matrix of 2 rows counted from 1");
}

TEST_CASE("rows and columns may be written as reals of whole value") {
  const std::string expected = "1 1 4\n1 3 -1\n2 2 2.5\n3 3 1e-10\n";
  const std::string as_reals = ", whose rows and columns are written as reals";
  // numpy.savetxt("a.txt", numpy.c_[row, column, value])
  check_triplets("a.txt",
                 "0.000000000000000000e+00 0.000000000000000000e+00 4.000000000000000000e+00\n"
                 "0.000000000000000000e+00 2.000000000000000000e+00 -1.000000000000000000e+00\n"
                 "2.000000000000000000e+00 2.000000000000000000e+00 1e-10\n1 1 2.5\n",
                 expected, "a matrix of 3 rows counted from 0" + as_reals);
  check_triplets("a.txt", "1.0 1 4\n1 3. -1\n+2.0 2e0 2.5\n3 3 1e-10\n", expected,
                 "a matrix of 3 rows counted from 1" + as_reals);
  CHECK(triplet_fault("1.0 1.0 4\n2.0 2.5 5\n") ==
        "a.txt:2: found \"2.5\" as column; expected a whole number of at least 0");
  CHECK(triplet_fault("1.0 1.0 4\n-2.0 2.0 5\n") ==
        "a.txt:2: found \"-2.0\" as row; expected a whole number of at least 0");
  CHECK(triplet_fault("1 1 4\n2.0 2 5\n") ==
        "a.txt:2: found \"2.0\" as row; expected a whole number of at least 0");
  CHECK(triplet_fault("1.5 1.0 4\n2 2 5\n") ==
        "a.txt:1: found \"1.5\" as row; expected a whole number of at least 0");
  CHECK(triplet_fault("1.0 1.0 4\n9007199254740994.0 2.0 5\n") ==
        "a.txt:2: found \"9007199254740994.0\" as row; expected a whole number of at least 0");
  // It may be a dense matrix.
  CHECK(triplet_fault("2.0 1.0 0.0\n1.0 2.0 1.0\n0.0 1.0 2.0\n") ==
        "a.txt: found 3 lines of 3 reals, which may be a dense matrix or \"ROW COLUMN VALUE\"; "
        "expected base=0 or 1 with entries, or a dense matrix as scipy.io.mmwrite(\"FILE.mtx\", "
        "A)");
}

TEST_CASE("bytes behind compressed data are told") {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string path = folder.put(
      "a.mtx.gz", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 5\n");
  if (world.is_root()) std::ofstream(path, std::ios::binary | std::ios::app) << "seven b";
  world.barrier();
  Remarks remarks;
  collective_read_matrix_market(world, team, path, PartitionBy::rows, remarks);
  CHECK(remarks == Remarks{path + ": 7 bytes behind the compressed data were not read"});
}

TEST_CASE("FreeFEM's two formats say where they count from") {
  const std::string expected = "1 1 4\n1 2 -1\n2 2 5\n3 3 6\n";
  check_triplets("a.txt",
                 "#  HashMatrix Matrix (COO) 0x1\n#    n       m        nnz     half     fortran   "
                 "state  \n3 3 4 0 0 0 0 \n         0         0 4\n         0         1 -1\n"
                 "         1         1 5\n         2         2 6\n",
                 expected, "a matrix of 3 rows counted from 0");
  check_triplets(
      "a.txt",
      "# Sparse Matrix (Morse)  0x1\n# first line: n m (is symmetic) nnz \n# after for "
      "each nonzero coefficient:   i j a_ij\n3 3 0  4\n        1         1 4\n        1  "
      "       2 -1\n        2         2 5\n        3         3 6\n",
      expected, "a matrix of 3 rows counted from 1");
  check_triplets(
      "a.txt",
      "#  HashMatrix Matrix (COO) 0x1\n# n m nnz half fortran state\n2 2 2 1 0 0 0\n"
      "0 0 4\n1 0 -1\n",
      "1 1 4\n1 2 -1\n2 1 -1\n",
      "a symmetric matrix, of which one triangle may be given, of 2 rows counted from 0");
}

TEST_CASE("CalculiX writes one triangle of a symmetric matrix") {
  check_triplets(
      "beam.sti", "1 1 4\n1 2 -1\n2 2 5\n", "1 1 4\n1 2 -1\n2 1 -1\n2 2 5\n",
      "a symmetric matrix, of which one triangle may be given, of 2 rows counted from 1");
}

TEST_CASE("text in UTF-16 is told") {
  const std::string expected =
      ":1: found text in UTF-16; expected ASCII or UTF-8: iconv -f UTF-16 -t UTF-8";
  const std::string letters = "1 1 4\n";
  std::string little("\xFF\xFE");
  std::string big;  // without a byte order mark
  for (const char letter : letters) {
    little += {letter, '\0'};
    big += {'\0', letter};
  }
  CHECK(triplet_fault(little) == "a.txt" + expected);
  CHECK(triplet_fault(big) == "a.txt" + expected);
}

TEST_CASE("entries as text that are wrong are told with their line") {
  CHECK(triplet_fault("# only\n") ==
        "a.txt:1: the file ends before its first entry; expected \"ROW COLUMN VALUE\"");
  CHECK(triplet_fault("1 1 4\n2 x 5\n") ==
        "a.txt:2: found \"x\" as column; expected a whole number of at least 0");
  CHECK(triplet_fault("1 1 4\n2 2 nan\n") == "a.txt:2: found \"nan\"; expected a finite number");
  CHECK(triplet_fault("1 1 4\n2 2\n") ==
        "a.txt:2: the line ends before the value; expected a number");
  CHECK(triplet_fault("1,1,4\n") == "a.txt:1: found \"1,1,4\"; expected a finite number");
  CHECK(
      triplet_fault("1 1 1 1 1\n") ==
      "a.txt:1: found 5 words; expected \"ROW COLUMN VALUE\" or one number; Python makes a file of "
      "a dense matrix: scipy.io.mmwrite(\"FILE.mtx\", A)");
  // Sizes in the first line are no entry, in either way to count.
  CHECK(triplet_fault("# sizes\n3 3 2\n1 1 4\n2 2 5\n") ==
        "a.txt:2: found \"3 3 2\" before as many entries, which seem to be their sizes; expected "
        "\"ROW COLUMN VALUE\" from the first line on");
  CHECK_THAT(triplet_fault("3 3 3\n0 0 4\n2 2 5\n0 1 1\n"), Catch::StartsWith("a.txt:1: found"));
  CHECK(triplet_fault("1 1 1\n99999999 1 1\n").find("rows in a file of") != std::string::npos);
  CHECK(triplet_fault("#  HashMatrix Matrix (COO)\n3 3\n") ==
        "a.txt:2: found \"3 3\"; expected the size line of FreeFEM, "
        "\"n m nnz half fortran state ...\"");
  CHECK(triplet_fault("#  HashMatrix Matrix (COO)\n2 2 1 0 0 0\n0 2 1\n") ==
        "a.txt:3: found \"2\" as column; expected a whole number from 0 to 1");
}

TEST_CASE("a general matrix is read in any order of its lines") {
  check_matrix(
      "%%MatrixMarket matrix coordinate real general\n% six\n6 6 8\n"
      "6 1 7\n2 2 2.5\n1 6 -1\n3 3 3\n1 1 1\n4 4 4\n6 6 6\n5 5 5\n",
      "1 1 1\n1 6 -1\n2 2 2.5\n3 3 3\n4 4 4\n5 5 5\n6 1 7\n6 6 6\n");
}

TEST_CASE("a symmetric matrix gets its other half") {
  check_matrix(
      "%%MatrixMarket matrix coordinate integer symmetric\n4 4 4\n1 1 2\n4 1 -1\n4 4 5\n3 2 7",
      "1 1 2\n1 4 -1\n2 3 7\n3 2 7\n4 1 -1\n4 4 5\n");
}

TEST_CASE("a skew-symmetric matrix gets its other half with the other sign") {
  check_matrix("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n3 2 -4\n",
               "1 2 -5\n2 1 5\n2 3 4\n3 2 -4\n");
}

TEST_CASE("equal entries in both triangles of a symmetric matrix count once, and are told") {
  const std::string both = "both triangles of the symmetric matrix stand in the file; ";
  check_matrix(
      "%%MatrixMarket matrix coordinate real symmetric\n4 4 10\n1 1 4\n2 1 -1\n1 2 -1\n2 2 4.5\n"
      "3 2 -0.5\n2 3 -0.5\n3 3 4\n4 3 -1\n3 4 -1\n4 4 3\n",
      "1 1 4\n1 2 -1\n2 1 -1\n2 2 4.5\n2 3 -0.5\n3 2 -0.5\n3 3 4\n3 4 -1\n4 3 -1\n4 4 3\n",
      both + "3 pairs of equal entries count once each");
  check_matrix(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 5\n1 2 -5\n3 2 -4\n",
      "1 2 -5\n2 1 5\n2 3 4\n3 2 -4\n", both + "1 pair of equal entries counts once");
  check_matrix("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 3\n1 2\n2 2\n2 1\n",
               "1 2 1\n2 1 1\n2 2 1\n", both + "1 pair of equal entries counts once");
}

TEST_CASE("entries on either side of the diagonal are no pairs unless they are mirror images") {
  check_matrix("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 7\n1 3 8\n3 3 1\n",
               "1 2 7\n1 3 8\n2 1 7\n3 1 8\n3 3 1\n");
}

TEST_CASE("duplicates of each triangle are added up before the triangles are compared") {
  check_matrix(
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 7\n2 1 1\n1 2 3\n2 1 2\n3 1 4\n"
      "3 1 5\n1 1 6\n1 1 1\n",
      "1 1 7\n1 2 3\n1 3 9\n2 1 3\n3 1 9\n",
      "both triangles of the symmetric matrix stand in the file; 1 pair of equal entries counts "
      "once");
}

TEST_CASE("both triangles of a large matrix are merged on all ranks and threads") {
  const int rows = 2000;
  std::string text = "%%MatrixMarket matrix coordinate integer symmetric\n2000 2000 7996\n";
  std::string expected;
  const auto line = [](int row, int column) {
    return std::to_string(row + 1) + ' ' + std::to_string(column + 1) + ' ' +
           std::to_string(std::min(row, column) + 1) + '\n';
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < rows; ++column) {
      if (std::abs(row - column) > 1 && row != rows - 1 - column) continue;
      expected += line(row, column);
      text += line(column, row);
    }
  check_matrix(text, expected,
               "both triangles of the symmetric matrix stand in the file; 2998 pairs of equal "
               "entries count once each");
}

TEST_CASE("a skew-symmetric matrix may store the zeros of its diagonal") {
  check_matrix(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n1 1 0\n2 1 5\n2 2 0.0\n",
      "1 1 0\n1 2 -5\n2 1 5\n2 2 0\n");
}

TEST_CASE("a complex matrix without imaginary parts is real, and that is told") {
  const std::string remark = "all imaginary parts are 0; the matrix is taken as real";
  check_matrix("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 0\n2 1 3.5 -0\n",
               "1 1 1\n2 1 3.5\n", remark);
  check_matrix("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3.5 0\n",
               "1 1 1\n1 2 3.5\n2 1 3.5\n", remark);
}

TEST_CASE("unsigned integers are integers") {
  check_matrix("%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 2\n1 1 3\n2 1 1\n",
               "1 1 3\n1 2 1\n2 1 1\n");
}

TEST_CASE("an array is a matrix whose zeros off the diagonal are left out") {
  const std::string array = "%%MatrixMarket matrix array real ";
  check_matrix(array + "general\n3 3\n1\n2\n0\n\n0\n0\n% here\n3\n4\n0\n5\n",
               "1 1 1\n1 3 4\n2 1 2\n2 2 0\n3 2 3\n3 3 5\n");
  check_matrix(array + "symmetric\n3 3\n1\n2\n0\n3\n4\n5\n",
               "1 1 1\n1 2 2\n2 1 2\n2 2 3\n2 3 4\n3 2 4\n3 3 5\n");
  check_matrix(array + "skew-symmetric\n3 3\n2\n0\n4\n", "1 2 -2\n2 1 2\n2 3 -4\n3 2 4\n");
}

TEST_CASE("a pattern gives ones") {
  check_matrix("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n2 2\n",
               "1 1 1\n1 3 1\n2 2 1\n3 1 1\n");
}

TEST_CASE("duplicates are added up") {
  check_matrix(
      "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 1\n3 3 1\n1 1 0.5\n2 2 1\n3 3 2\n"
      "3 3 4\n",
      "1 1 1.5\n2 2 1\n3 3 7\n");
}

TEST_CASE("DOS line ends, comments and blank lines between the data do not disturb") {
  check_matrix(
      "%%MatrixMarket matrix coordinate real general\r\n\r\n%c\r\n2 2 2\r\n\r\n1 1 1D1\r\n% 5\r\n"
      "\t2\t2 +2 \r\n\r\n%\r\n",
      "1 1 10\n2 2 2\n");
}

TEST_CASE("one line is enough for a matrix, whatever the number of ranks") {
  check_matrix("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3", "1 1 3\n");
}

TEST_CASE("a large file is read by all threads as by one") {
  constexpr int rows = 5000;
  constexpr int lines = 150'100;  // several waves of 512 KiB, and rounds of 4 MiB
  for (const std::string& symmetry : {std::string("general"), std::string("symmetric")}) {
    std::string text = "%%MatrixMarket matrix coordinate real " + symmetry + "\n% made\n" +
                       std::to_string(rows) + " " + std::to_string(rows) + " " +
                       std::to_string(lines) + "\n";
    unsigned number = 7;
    for (int line = 0; line < lines; ++line) {
      number = number * 1664525U + 1013904223U;
      unsigned row = (number >> 8) % rows;
      unsigned column = (row + (number >> 21) % 40 + static_cast<unsigned>(line) % 3) % rows;
      if (row < column && symmetry == "symmetric") std::swap(row, column);
      text += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " +
              std::to_string(1e-3 * (number % 2001) - 1) +
              (line % 1000 == 999 ? "\n% here\n" : "\n");
    }
    const auto world = Communicator::collective_world();
    const auto alone = Communicator::self();
    const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
    const comm_thread::ComputeTeam one(1, comm_thread::WaitPolicy{});
    const tests::SharedFolder folder(world);
    std::string expected;
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
      const std::string path = folder.put(name, text);
      if (expected.empty())
        expected =
            gathered(alone, collective_read_matrix_market(alone, one, path, PartitionBy::rows));
      for (const PartitionBy by : {PartitionBy::rows, PartitionBy::nonzeros}) {
        const std::string found =
            gathered(world, collective_read_matrix_market(world, team, path, by));
        if (world.is_root()) CHECK((found == expected));  // not shown
      }
    }
    // A fault near the end is found by all, with its line.
    const std::size_t last = text.rfind('\n', text.size() - 2);
    const std::string wrong = text.substr(0, last + 1) + "1 0 3\n";
    const std::string path = folder.put("wrong.mtx", wrong);
    const auto fault = tests::input_error_of(
        [&] { collective_read_matrix_market(world, team, path, PartitionBy::rows); });
    const auto line = std::count(wrong.begin(), wrong.end(), '\n');
    CHECK(fault == "wrong.mtx:" + std::to_string(line) +
                       ": found \"0\" as column; expected a whole number from 1 to 5000");
  }
}

TEST_CASE("every rank sends entries to every other in several rounds") {
  const int rows = 3000;
  std::string text = "%%MatrixMarket matrix coordinate integer general\n3000 3000 90000\n";
  std::string expected;
  for (int k = 0; k < 30; ++k)
    for (int row = 0; row < rows; ++row)
      text += std::to_string(row * 7 % rows + 1) + ' ' + std::to_string(100 * k + row % 100 + 1) +
              ' ' + std::to_string(k) + '\n';
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < 30; ++k) {
      const int line = row * 2143 % rows;  // 7 · 2143 = 1 modulo 3000
      expected += std::to_string(row + 1) + ' ' + std::to_string(100 * k + line % 100 + 1) + ' ' +
                  std::to_string(k) + '\n';
    }
  check_matrix(text, expected);
}

TEST_CASE("real matrices have the known number of nonzeros") {
  const char* data = std::getenv("WEFT_DATA");
  if (!data || !std::filesystem::exists(std::string(data) + "/bcsstk13.mtx")) {
    WARN("skipped: WEFT_DATA does not name the folder of the real matrices");
    return;
  }
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(thread_count(), comm_thread::WaitPolicy{});
  const auto nonzeros = [&](const std::string& name) {
    return collective_read_matrix_market(world, team, data + ('/' + name), PartitionBy::nonzeros)
        .global_nonzero_count;
  };
  CHECK(nonzeros("airfoil.mtx") == 1682);
  CHECK(nonzeros("ani4.mtx") == 20971);
  CHECK(nonzeros("bar.mtx") == 23402);
  CHECK(nonzeros("bcsstk13.mtx") == 83883);
  CHECK(nonzeros("fem50k.mtx.gz") == 724150);
}

}  // namespace
}  // namespace weft::spmv
