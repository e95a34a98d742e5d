// PETSc's files of every build: sizes and class numbers tell how the numbers are written.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

/// How a build of PETSc writes.
struct Build {
  int index_bytes = 4;
  int scalar_bytes = 8;
  double imaginary = 0.0;
};

/// The lowest `count` bytes, the highest first.
std::string big_endian(std::uint64_t bits, int count) {
  std::string bytes;
  for (int i = count; i > 0; --i) bytes += static_cast<char>(bits >> (8 * (i - 1)));
  return bytes;
}

std::string indices(const Build& build, const std::vector<std::int64_t>& numbers) {
  std::string bytes;
  for (const std::int64_t number : numbers)
    bytes += big_endian(static_cast<std::uint64_t>(number), build.index_bytes);
  return bytes;
}

std::string scalars(const Build& build, const std::vector<double>& numbers) {
  std::string bytes;
  for (const double number : numbers) {
    if (build.scalar_bytes == 4)
      bytes += big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
    else
      bytes += big_endian(std::bit_cast<std::uint64_t>(number), 8);
    if (build.scalar_bytes == 16)
      bytes += big_endian(std::bit_cast<std::uint64_t>(build.imaginary), 8);
  }
  return bytes;
}

/// [4 -1 0; -2 5 -1; 0 -2 6]
std::string matrix(const Build& build) {
  return indices(build, {1211216, 3, 3, 7, 2, 3, 2, 0, 1, 0, 1, 2, 1, 2}) +
         scalars(build, {4, -1, -2, 5, -1, -2, 6});
}
std::string dense_matrix(const Build& build) {
  return indices(build, {1211216, 3, 3, -1}) + scalars(build, {4, -1, 0, -2, 5, -1, 0, -2, 6});
}
std::string vector(const Build& build, const std::vector<double>& values) {
  return indices(build, {1211214, static_cast<std::int64_t>(values.size())}) +
         scalars(build, values);
}

/// Files that all ranks read.
class Files {
 public:
  std::string put(const std::string& name, const std::string& bytes) const {
    world.barrier();
    if (world.is_root()) std::ofstream(folder_.file(name), std::ios::binary) << bytes;
    world.barrier();
    return folder_.file(name);
  }

  /// All nonzeros as "row,column=value", on rank 0; the others have none.
  std::string read_matrix(const std::string& path, Remarks& remarks) const {
    const auto read = collective_read_matrix_file(world, team_, path, PartitionBy::rows, remarks);
    std::string own;
    for (LocalIndex row = 0; row < read.rows.row_count; ++row)
      for (auto k = read.rows.row_offsets[static_cast<std::size_t>(row)];
           k < read.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (read.rows.values[at] == 0) continue;
        own += std::to_string(read.first_row() + row) + "," +
               std::to_string(read.global_column(read.rows.columns[at])) + "=" +
               std::to_string(static_cast<int>(read.rows.values[at])) + " ";
      }
    return together(own);
  }

  std::string read_vector(const std::string& path, GlobalIndex length, Remarks& remarks) const {
    const auto rows = RowPartition::by_rows(length, world.size());
    std::string own;
    for (const double value : collective_read_vector_file(world, rows, path, remarks))
      own += std::to_string(static_cast<int>(value)) + " ";
    return together(own);
  }

  std::string fault_of(const std::function<void()>& work) const {
    try {
      work();
    } catch (const comm_thread::InputError& error) {
      return error.what();
    }
    return "";
  }

  const Communicator world = Communicator::collective_world();

 private:
  std::string together(const std::string& own) const {
    std::string all;
    for (const std::string& part : world.gather(own)) all += part;
    world.broadcast(all, 0);
    return all;
  }

  const ComputeTeam team_{tests::thread_count(), comm_thread::WaitPolicy{}};
  const tests::SharedFolder folder_{world};
};

std::string joined(const Remarks& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += remark + "\n";
  return text;
}

const std::string all_entries = "0,0=4 0,1=-1 1,0=-2 1,1=5 1,2=-1 2,1=-2 2,2=6 ";

}  // namespace

TEST_CASE("matrices and vectors of every build of PETSc are read, and what is unusual is said") {
  const Files files;
  for (const int index_bytes : {4, 8})
    for (const int scalar_bytes : {4, 8, 16}) {
      INFO(index_bytes << " and " << scalar_bytes << " bytes");
      const Build build{index_bytes, scalar_bytes};
      Remarks sparse;
      Remarks dense;
      Remarks of_vector;
      CHECK(files.read_matrix(files.put("a.petsc", matrix(build)), sparse) == all_entries);
      CHECK(files.read_matrix(files.put("d.bin", dense_matrix(build)), dense) == all_entries);
      CHECK(files.read_vector(files.put("b.bin", vector(build, {1, 2, 3})), 3, of_vector) ==
            "1 2 3 ");
      CHECK(sparse.size() == (scalar_bytes == 8 ? 0U : 1U));
      CHECK(of_vector.size() == sparse.size());
      if (scalar_bytes == 16) CHECK_THAT(joined(sparse), Catch::Contains("complex"));
      if (scalar_bytes == 4) CHECK_THAT(joined(sparse), Catch::Contains("single precision"));
      CHECK_THAT(joined(dense), Catch::Contains("dense"));
    }
}

TEST_CASE("a file of several objects of PETSc gives the first of its kind, or the one by number") {
  const Files files;
  for (const int scalar_bytes : {4, 8, 16}) {
    const Build build{4, scalar_bytes};
    const std::string path =
        files.put("all.petsc", matrix(build) + vector(build, {1, 2, 3}) +
                                   indices(build, {1211218, 2, 7, 7}) + vector(build, {4, 5, 6}));
    Remarks remarks;
    CHECK(files.read_matrix(path, remarks) == all_entries);
    CHECK_THAT(joined(remarks), Catch::Contains("all.petsc:2") && Catch::Contains("all.petsc:4"));
    CHECK(files.read_matrix(path + ":1", remarks) == all_entries);
    CHECK(files.read_vector(path, 3, remarks) == "1 2 3 ");
    CHECK(files.read_vector(path + ":2", 3, remarks) == "1 2 3 ");
    CHECK(files.read_vector(path + ":4", 3, remarks) == "4 5 6 ");
    for (const std::string number : {":1", ":3", ":5", ":0", ":x", ":"})
      CHECK_THAT(files.fault_of([&] { files.read_vector(path + number, 3, remarks); }),
                 Catch::Contains("expected"));
    CHECK(collective_look_into(files.world, path).is_matrix);
    CHECK(collective_look_into(files.world, path + ":1").is_matrix);
    CHECK_FALSE(collective_look_into(files.world, path + ":4").is_matrix);
  }
  Remarks remarks;
  const std::string with_tail =
      files.put("tail.petsc", vector({}, {1, 2, 3}) + indices({}, {1211219, 5, 5, 5}));
  CHECK(files.read_vector(with_tail, 3, remarks) == "1 2 3 ");
  CHECK_THAT(joined(remarks), Catch::Contains("16 bytes at its end"));
}

TEST_CASE("a file of PETSc that no build, or more than one, can have written is refused") {
  const Files files;
  const auto fault_of_matrix = [&](const std::string& bytes) {
    const std::string path = files.put("wrong.petsc", bytes);
    return files.fault_of([&] {
      Remarks remarks;
      files.read_matrix(path, remarks);
    });
  };
  for (const std::string& tail : {std::string("junk"), std::string(8, '\0')})
    for (const int scalar_bytes : {4, 8, 16})
      CHECK_THAT(fault_of_matrix(matrix({4, scalar_bytes}) + tail),
                 Catch::Contains("expected a whole file"));
  const std::string whole = matrix({});
  CHECK_THAT(fault_of_matrix(whole.substr(0, whole.size() - 8)),
             Catch::Contains("expected a whole file"));
  CHECK_THAT(fault_of_matrix(matrix({4, 16, 0.5})), Catch::Contains("number 0 is complex"));
  CHECK_THAT(fault_of_matrix(vector({}, {1, 2})), Catch::Contains("found a vector of length 2"));
  CHECK_THAT(fault_of_matrix(""), Catch::Contains("PETSc"));
  // The bytes of the last doubles may be another vector of a build with floats.
  const std::string floats = vector({4, 4}, {1, 2, 3, 4});
  const std::string two = indices({}, {1211214, 6}) + scalars({4, 4}, {1, 1, 1, 1, 1, 1}) + floats;
  CHECK_THAT(files.fault_of([&] {
    Remarks remarks;
    files.read_vector(files.put("two.petsc", two), 6, remarks);
  }),
             Catch::Contains("scalars of 8 and of 4 bytes"));
}

}  // namespace weft::spmv
