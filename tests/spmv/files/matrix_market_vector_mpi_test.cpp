#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/matrix_market_vector.h"
#include "spmv/files/remarks.h"
#include "tests/spmv/files/matrix_market_support.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;

double value_at(GlobalIndex row) { return std::sin(static_cast<double>(row)) * 1e-3; }

std::vector<double> own_values(const Communicator& world, const RowPartition& partition) {
  std::vector<double> own;
  for (GlobalIndex row = partition.begin(world.rank()); row < partition.end(world.rank()); ++row)
    own.push_back(value_at(row));
  return own;
}

std::vector<double> read_vector(const Communicator& world, const RowPartition& partition,
                                const std::string& path) {
  Remarks remarks;
  return collective_read_columns(world, partition, path, 1, remarks).own;
}

const std::string vector_start = "%%MatrixMarket matrix array real general\n";

TEST_CASE("a vector is written and read back with the same bits") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const GlobalIndex rows = 70000;
  const auto partition = RowPartition::by_rows(rows, world.size());
  const auto own = own_values(world, partition);
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    collective_write_columns(world, partition, own, 1, folder / name);
    CHECK(read_vector(world, partition, folder / name) == own);
  }
  CHECK(folder.file_count() == 2);
}

TEST_CASE("the bytes written depend on the values alone") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(5, world.size());
  const std::vector<double> all{1.0, 0.1, -2.5e-300, 1e22, 1.0 / 3.0};
  const std::vector<double> own(all.begin() + partition.begin(world.rank()),
                                all.begin() + partition.end(world.rank()));
  collective_write_columns(world, partition, own, 1, folder / "x.mtx");
  CHECK(tests::read_file(folder / "x.mtx") ==
        vector_start + "5 1\n1\n0.1\n-2.5e-300\n1e+22\n0.3333333333333333\n");
}

TEST_CASE("values of one part of the file reach the ranks that own their rows") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(6, world.size());
  // Most characters belong to the first value.
  const std::string text =
      vector_start + "%\n6 1\n\n1" + std::string(100, ' ') + "\n2\r\n%\n+3D0\n4\n5\n6";
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    std::vector<double> expected;
    for (GlobalIndex row = partition.begin(world.rank()); row < partition.end(world.rank()); ++row)
      expected.push_back(static_cast<double>(row + 1));
    CHECK(read_vector(world, partition, folder.put(name, text)) == expected);
  }
}

TEST_CASE("a vector may be sparse, a row, or of other numbers") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto check = [&](const std::string& text, const std::vector<double>& all) {
    const auto partition = RowPartition::by_rows(std::ssize(all), world.size());
    const std::vector<double> own(all.begin() + partition.begin(world.rank()),
                                  all.begin() + partition.end(world.rank()));
    for (const char* name : {"x.mtx", "x.mtx.gz"})
      CHECK(read_vector(world, partition, folder.put(name, "%%MatrixMarket matrix " + text)) ==
            own);
  };
  check("coordinate real general\n4 1 3\n4 1 2.5\n1 1 1\n4 1 -1\n", {1, 0, 0, 1.5});
  check("coordinate pattern general\n3 1 1\n2 1\n", {0, 1, 0});
  check("coordinate real general\n1 3 2\n1 3 7\n1 1 5\n", {5, 0, 7});
  check("coordinate real general\n3 1 0\n", {0, 0, 0});
  check("array integer general\n3 1\n1\n-2\n3\n", {1, -2, 3});
  check("array complex general\n2 1\n1 0\n-2.5 0\n", {1, -2.5});
  check("array real general\n1 3\n1\n2\n3\n", {1, 2, 3});
  check("array real symmetric\n1 1\n8\n", {8});
  const auto three = RowPartition::by_rows(3, world.size());
  const std::vector<double> text{1, -2.5, 3};
  CHECK(read_vector(world, three, folder.put("x.txt", "# x\n1\n-2.5\n3\n")) ==
        std::vector<double>(text.begin() + three.begin(world.rank()),
                            text.begin() + three.end(world.rank())));
  // Next to no entries of many rows.
  std::vector<double> long_vector(200000);
  long_vector[123456] = 2;
  check("coordinate real general\n200000 1 1\n123457 1 2\n", long_vector);
}

/// The own rows of a matrix by rows, of three columns.
FileColumns own_rows(const Communicator& world, const RowPartition& partition,
                     const std::vector<double>& all) {
  const auto place = [&](GlobalIndex row) { return all.begin() + 3 * row; };
  return {3, {place(partition.begin(world.rank())), place(partition.end(world.rank()))}};
}

TEST_CASE("vectors are the columns of an array, of a sparse matrix, or of lines of text") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(4, world.size());
  const FileColumns own = own_rows(world, partition, {1, 0, -2, 0, 5, 0, 3, 0, 0, 4, 0.5, 7});
  const auto check = [&](const std::string& name, const std::string& text) {
    Remarks remarks;
    const auto found = collective_read_columns(world, partition, folder.put(name, text),
                                               any_number_of_columns, remarks);
    INFO(name << ": " << text);
    CHECK(found.count == 3);
    CHECK(found.own == own.own);
    CHECK(remarks.size() == (text.find("complex") != std::string::npos ? 1 : 0));
    CHECK(collective_count_text_columns(world, folder / name, [] { return 4; }) == 3);
  };
  const std::string start = "%%MatrixMarket matrix ";
  for (const char* name : {"b.mtx", "b.mtx.gz"}) {
    check(name, start + "array real general\n4 3\n1\n0\n3\n4\n0\n5\n0\n0.5\n-2\n0\n0\n7\n");
    check(name, start +
                    "coordinate real general\n4 3 7\n4 3 7\n1 1 1\n1 3 -2\n2 2 5\n3 1 3\n"
                    "4 1 4\n4 2 0.5\n");
    check(name, start +
                    "coordinate complex general\n4 3 7\n4 3 7 0\n1 1 1 0\n1 3 -2 0\n2 2 5 0\n"
                    "3 1 3 0\n4 1 4 0\n4 2 0.5 0\n");
  }
  check("b.txt", "# three vectors\n1 0. -2\n0 5e0 0\n\n  3.0 0 0\r\n4 .5 7");
  check("b.dat", "% three vectors\n1.0 0 -2\n+0 5 0\n3 0 0\n4 0.5D0 7\n");
}

TEST_CASE("what is written of columns does not depend on the ranks, and is read back") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(4, world.size());
  const FileColumns own = own_rows(world, partition, {1, 0.1, -2, 3, 5, 0, 3, 1e22, 0, 4, 0, 7});
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    collective_write_columns(world, partition, own.own, 3, folder / name);
    Remarks remarks;
    CHECK(collective_read_columns(world, partition, folder / name, 3, remarks).own == own.own);
  }
  CHECK(
      tests::read_file(folder / "x.mtx") ==
      "%%MatrixMarket matrix array real general\n4 3\n1\n3\n3\n4\n0.1\n5\n1e+22\n0\n-2\n0\n0\n7\n");
}

TEST_CASE("dimensions are one vector, several columns, or a fault that says what was found") {
  const auto count = [](std::vector<std::int64_t> sizes, std::int64_t most) {
    const ColumnCount columns = columns_of(sizes, 6, most);
    return columns.fault.empty() ? std::to_string(columns.count) : columns.fault;
  };
  CHECK(count({6}, 1) == "1");
  CHECK(count({6, 1}, 1) == "1");
  CHECK(count({1, 6}, 1) == "1");
  CHECK(count({1, 1, 6}, 9) == "1");
  CHECK(count({6, 2}, 2) == "2");
  CHECK(count({6, 2, 1}, 9) == "2");
  CHECK(count({6, 6}, 9) == "6");
  CHECK(columns_of(std::vector<std::int64_t>{1, 4}, 1, 9).count == 4);
  CHECK(sparse_columns_of(std::vector<std::int64_t>{6, 2}, 6, 9).count == 2);
  CHECK(sparse_columns_of(std::vector<std::int64_t>{1, 1}, 1, 9).count == 1);
  CHECK(sparse_columns_of(std::vector<std::int64_t>{6, 6}, 6, 9).fault ==
        "found a sparse matrix of 6 rows and columns; expected a vector, or several as the columns "
        "of an array");
  CHECK(columns_of(std::vector<std::int64_t>{}, 1, 1).count == 1);
  CHECK(count({6, 2}, 1) == "found 6 rows and 2 columns; expected a vector of 1 column");
  CHECK(count({5}, 9) == "found a vector of length 5; expected length 6");
  CHECK(count({1, 5}, 9) == "found a vector of length 5; expected length 6");
  CHECK(count({2, 6}, 1) == "found 2 rows and 6 columns; expected a vector of length 6");
  CHECK(count({2, 6}, 9) ==
        "found 2 rows and 6 columns; expected 6 rows: write the transpose, which has a vector in "
        "each column");
  CHECK(count({5, 2}, 9) == "found 5 rows and 2 columns; expected 6 rows");
  CHECK(count({6, 0}, 9) == "found 0 columns; expected at least one");
  CHECK(count({6, 2, 2}, 9) ==
        "found an array of 6 x 2 x 2 numbers; expected 6 rows, with a vector in each column");
}

TEST_CASE("a vector that is wrong is told with file and line") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(3, world.size());
  const auto check = [&](const std::string& text, const std::string& expected) {
    for (const std::string name : {"x.mtx", "x.mtx.gz"}) {
      const std::string path = folder.put(name, text);
      CHECK(tests::input_error_of([&] { read_vector(world, partition, path); }) == name + expected);
      world.barrier();
    }
  };
  check(vector_start + "4 1\n1\n2\n3\n4\n", ":2: found a vector of length 4; expected length 3");
  check(vector_start + "3 2\n1\n2\n3\n1\n2\n3\n",
        ":2: found 3 rows and 2 columns; expected a vector of 1 column");
  check(
      "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
      ":2: found a matrix; expected columns of numbers (\"matrix array real general\" in the first "
      "line)");
  check(vector_start + "3 1\n1\n2\n",
        ":4: the file ends after 2 entries; expected the 3 of its size line");
  check(vector_start + "3 1\n1\n2\n3\n4\n",
        ":6: found more entries; expected the file to end after the 3 entries of its size line");
  check(vector_start + "3 1\n1\ninf\n3\n", ":4: found \"inf\"; expected a finite number");
  check(vector_start + "3 1\n1\n2 2\n3\n",
        ":4: found \"2\" at the end of the line; expected nothing more");
  check("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n",
        ":2: found a sparse matrix of 3 rows and columns; expected a vector, or several as the "
        "columns of an array");
  check("%%MatrixMarket matrix coordinate real general\n3 1 1\n1 2 1\n",
        ":3: found \"2\" as column; expected a whole number from 1 to 1");
}

TEST_CASE("a square array of vectors may be called symmetric, as SciPy does") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(3, world.size());
  const auto read = [&](const std::string& text) {
    Remarks remarks;
    return collective_read_columns(world, partition,
                                   folder.put("b.mtx", "%%MatrixMarket matrix " + text),
                                   any_number_of_columns, remarks)
        .own;
  };
  CHECK(read("array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n") ==
        own_rows(world, partition, {1, 2, 3, 2, 4, 5, 3, 5, 6}).own);
  CHECK(read("array real skew-symmetric\n3 3\n2\n3\n5\n") ==
        own_rows(world, partition, {0, -2, -3, 2, 0, -5, 3, 5, 0}).own);
  CHECK_THAT(tests::input_error_of([&] { read("coordinate real symmetric\n3 3 1\n1 1 1\n"); }),
             Catch::Contains(":2: found a matrix; expected columns of numbers"));
}

TEST_CASE("a vector of FreeFEM has its length in front, and several numbers a line") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto read = [&](GlobalIndex rows, const std::string& text) {
    return read_vector(world, RowPartition::by_rows(rows, world.size()), folder.put("b.txt", text));
  };
  const auto own = [&](const std::vector<double>& all) {
    const auto partition = RowPartition::by_rows(std::ssize(all), world.size());
    return std::vector<double>(all.begin() + partition.begin(world.rank()),
                               all.begin() + partition.end(world.rank()));
  };
  CHECK(read(7, "7\t\n\t  1\t0.5\t  3\t  4\t-5e-3\n\t  6\t  7\t\n") ==
        own({1, 0.5, 3, 4, -5e-3, 6, 7}));
  CHECK(read(5, "5\t\n\t  1\t  2\t  3\t  4\t  5\n\t") == own({1, 2, 3, 4, 5}));
  CHECK(read(3, "3\n1 2 4.5\n") == own({1, 2, 4.5}));
  // A number a line is one of the vector.
  CHECK(read(3, "2\n1\n4.5\n") == own({2, 1, 4.5}));
  std::string many = "10001";
  std::vector<double> values;
  for (int i = 0; i < 10001; ++i) {
    many += (i % 5 == 0 ? "\n\t" : "\t") + std::to_string(i) + ".25";
    values.push_back(i + 0.25);
  }
  CHECK(read(10001, many) == own(values));
}

TEST_CASE("lines of text that are no rows of columns are told") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(3, world.size());
  const auto check = [&](const std::string& text, const std::string& expected) {
    const std::string path = folder.put("b.txt", text);
    CHECK(tests::input_error_of([&] {
            Remarks remarks;
            collective_read_columns(world, partition, path, any_number_of_columns, remarks);
          }) == "b.txt" + expected);
    world.barrier();
  };
  check("1.0 2\n3.0 4\n5.0\n", ":3: found 1 words; expected 2 numbers, as in the first line");
  check("1.0 2\n3.0 4\n5.0 6 7\n", ":3: found 3 words; expected 2 numbers, as in the first line");
  check("1.0 2\n3.0 x\n5.0 6\n", ":2: found \"x\"; expected a finite number");
  check("1.0 2\n3.0 4\n", ": found 2 rows and 2 columns; expected 3 rows");
  check("4\n1 2 3 4\n", ":1: found a vector of length 4; expected length 3");
  check("3\n1 2 3 4\n", ":2: found 4 words; expected 3 numbers, by the first two lines");
  check("3\n1 x 3\n", ":2: found \"x\"; expected a finite number");
  check("3\n1 2 3\n4\n",
        ":3: found more lines of numbers; expected the file to end after the 1 "
        "lines of numbers of its size line");
  check("1 1 2.5\n3 1 4\n",
        ":1: found \"1 1 2.5\", which looks like \"ROW COLUMN VALUE\"; expected columns of numbers "
        "with a decimal point, as numpy.savetxt writes them, or FILE.mtx");
}

}  // namespace
}  // namespace weft::spmv
