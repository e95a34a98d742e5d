#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/matrix_market_vector.h"
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

const std::string vector_start = "%%MatrixMarket matrix array real general\n";

TEST_CASE("a vector is written and read back with the same bits") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const GlobalIndex rows = 70000;
  const auto partition = RowPartition::by_rows(rows, world.size());
  const auto own = own_values(world, partition);
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    collective_write_vector(world, partition, own, folder / name);
    CHECK(collective_read_vector(world, partition, folder / name) == own);
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
  collective_write_vector(world, partition, own, folder / "x.mtx");
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
    CHECK(collective_read_vector(world, partition, folder.put(name, text)) == expected);
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
      CHECK(collective_read_vector(world, partition,
                                   folder.put(name, "%%MatrixMarket matrix " + text)) == own);
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
  CHECK(collective_read_vector(world, three, folder.put("x.txt", "# x\n1\n-2.5\n3\n")) ==
        std::vector<double>(text.begin() + three.begin(world.rank()),
                            text.begin() + three.end(world.rank())));
  // Next to no entries of many rows.
  std::vector<double> long_vector(200000);
  long_vector[123456] = 2;
  check("coordinate real general\n200000 1 1\n123457 1 2\n", long_vector);
}

TEST_CASE("a vector that is wrong is told with file and line") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto partition = RowPartition::by_rows(3, world.size());
  const auto check = [&](const std::string& text, const std::string& expected) {
    for (const std::string name : {"x.mtx", "x.mtx.gz"}) {
      const std::string path = folder.put(name, text);
      CHECK(tests::input_error_of([&] { collective_read_vector(world, partition, path); }) ==
            name + expected);
      world.barrier();
    }
  };
  check(vector_start + "4 1\n1\n2\n3\n4\n", ":2: found a vector of length 4; expected length 3");
  check(vector_start + "3 1\n1\n2\n",
        ":4: the file ends after 2 entries; expected the 3 of its size line");
  check(vector_start + "3 1\n1\n2\n3\n4\n",
        ":6: found more entries; expected the file to end after the 3 entries of its size line");
  check(vector_start + "3 1\n1\ninf\n3\n", ":4: found \"inf\"; expected a finite number");
  check(vector_start + "3 1\n1\n2 2\n3\n",
        ":4: found \"2\" at the end of the line; expected nothing more");
  check("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n",
        ":2: found 3 columns; expected a vector of 1 column");
  check("%%MatrixMarket matrix coordinate real general\n3 1 1\n1 2 1\n",
        ":3: found \"2\" as column; expected a whole number from 1 to 1");
}

}  // namespace
}  // namespace weft::spmv
