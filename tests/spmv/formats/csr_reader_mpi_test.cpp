// Matrices from binary files: whatever the order of their columns and the kind of their numbers, a
// rank gets its rows as it would from a generator.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

template <class Value>
std::vector<Value> copy_of(const perfmodel::HugePageBuffer<Value>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

void check_equal(const DistributedMatrix& found, const DistributedMatrix& expected) {
  CHECK(found.first_row() == expected.first_row());
  CHECK(found.global_nonzero_count == expected.global_nonzero_count);
  CHECK(found.halo_columns == expected.halo_columns);
  CHECK(found.rows.row_count == expected.rows.row_count);
  CHECK(copy_of(found.rows.row_offsets) == copy_of(expected.rows.row_offsets));
  CHECK(copy_of(found.rows.columns) == copy_of(expected.rows.columns));
  CHECK(copy_of(found.rows.values) == copy_of(expected.rows.values));
}

template <class Number>
void append(std::string& bytes, Number number) {
  const auto* const from = reinterpret_cast<const char*>(&number);
  for (std::size_t i = sizeof(Number); i > 0; --i) bytes += from[i - 1];  // big-endian
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A file of PETSc with four rows, written on rank 0.
template <class Index>
void write_four_rows(const std::string& path, const std::vector<Index>& columns) {
  std::string bytes;
  const auto count = static_cast<Index>(columns.size());
  for (const Index number : {Index{1211216}, Index{4}, Index{4}, count}) append(bytes, number);
  for (const Index length : {Index{3}, Index{0}, Index{2}, static_cast<Index>(count - 5)})
    append(bytes, length);
  for (const Index column : columns) append(bytes, column);
  for (Index k = 0; k < count; ++k) append(bytes, 0.5 + static_cast<double>(k));
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The rows of all ranks as (row, column, value), on rank 0.
std::string gather_text(const Communicator& world, const DistributedMatrix& matrix) {
  std::string own;
  for (LocalIndex row = 0; row < matrix.rows.row_count; ++row)
    for (auto k = matrix.rows.row_offsets[static_cast<std::size_t>(row)];
         k < matrix.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      own += std::to_string(matrix.first_row() + row) + "," +
             std::to_string(matrix.global_column(matrix.rows.columns[at])) + "=" +
             std::to_string(matrix.rows.values[at]).substr(0, 3) + " ";
    }
  std::string all;
  for (const std::string& part : world.gather(own)) all += part;
  return all;
}

template <class Index>
std::string four_rows_from(const std::vector<Index>& columns) {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string path = folder.file("four.petsc");
  if (world.is_root()) write_four_rows(path, columns);
  world.barrier();
  return gather_text(world, collective_read_matrix_file(world, team, path, PartitionBy::rows));
}

}  // namespace

TEST_CASE("every binary format gives each rank the rows that were generated") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  for (const std::string problem : {"irregular:3000,nnzr=20,bandwidth=2000", "poisson3d:17"}) {
    const auto parsed = Problem::parse(problem);
    const auto written = collective_generate(world, team, parsed, PartitionBy::rows);
    for (const std::string name : {"m.petsc", "m.npz", "m.h5"}) {
      const std::string path = folder.file(name);
      collective_write_matrix_file(world, written, path);
      for (const PartitionBy by : {PartitionBy::rows, PartitionBy::nonzeros}) {
        INFO(problem << ", " << name);
        check_equal(collective_read_matrix_file(world, team, path, by),
                    collective_generate(world, team, parsed, by));
      }
    }
  }
}

TEST_CASE("columns in any order and twice give the same as in order, with 32 and with 64 bits") {
  const auto world = Communicator::collective_world();
  const std::string in_order = "0,0=0.5 0,1=1.5 0,3=2.5 2,0=3.5 2,3=4.5 3,1=5.5 3,2=6.5 ";
  for (int bits : {32, 64}) {
    INFO(bits << " bits");
    const auto read = [&](const std::vector<int>& columns) {
      return bits == 32 ? four_rows_from(std::vector<std::int32_t>(columns.begin(), columns.end()))
                        : four_rows_from(std::vector<std::int64_t>(columns.begin(), columns.end()));
    };
    const std::string first = read({0, 1, 3, 0, 3, 1, 2});
    const std::string second = read({1, 0, 3, 3, 0, 1, 2, 1});
    if (!world.is_root()) continue;
    CHECK(first == in_order);
    CHECK(second == "0,0=1.5 0,1=0.5 0,3=2.5 2,0=4.5 2,3=3.5 3,1=13. 3,2=6.5 ");
  }
}

TEST_CASE("every changed byte of an archive is noticed on all ranks, wherever it is") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string whole = folder.file("whole.npz");
  const std::string changed = folder.file("changed.npz");
  // Rows of several pieces, and arrays above the size that is compared at once.
  const auto problem = Problem::parse("poisson3d:12");
  collective_write_matrix_file(world, collective_generate(world, team, problem, PartitionBy::rows),
                               whole);
  std::string bytes;
  if (world.is_root()) bytes = bytes_of(whole);
  world.broadcast(bytes, 0);
  for (const std::string member : {"indices", "indptr", "data"}) {
    const std::size_t begin = bytes.find(member + ".npy");
    const std::size_t end = bytes.find("PK", begin);
    // The last bit of the padding behind the header, in the middle, and at the end.
    for (const std::size_t place : {bytes.find('}', begin) + 1, (begin + end) / 2, end - 1}) {
      INFO(member << ", byte " << place);
      if (world.is_root()) {
        std::string wrong = bytes;
        wrong[place] = static_cast<char>(wrong[place] ^ 1);
        std::ofstream(changed, std::ios::binary) << wrong;
      }
      world.barrier();
      for (const PartitionBy by : {PartitionBy::rows, PartitionBy::nonzeros}) {
        std::string said;
        try {
          collective_read_matrix_file(world, team, changed, by);
        } catch (const comm_thread::InputError& error) {
          said = error.what();
        }
        CHECK_THAT(said, Catch::Contains("expected"));
      }
      world.barrier();
    }
  }
}

TEST_CASE("a column that no rank has is refused on all ranks") {
  for (const std::int32_t wrong : {-1, 4, INT32_MAX, INT32_MIN}) {
    INFO("column " << wrong);
    std::string said;
    try {
      four_rows_from(std::vector<std::int32_t>{0, 1, 3, 0, 3, 1, wrong});
    } catch (const comm_thread::InputError& error) {
      said = error.what();
    }
    CHECK_THAT(said, Catch::EndsWith("found column " + std::to_string(wrong) +
                                     " at number 6; expected 0 to 3"));
  }
}

}  // namespace weft::spmv
