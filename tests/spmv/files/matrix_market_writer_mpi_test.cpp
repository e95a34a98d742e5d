#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/matrix_market_reader.h"
#include "spmv/files/matrix_market_writer.h"
#include "spmv/files/text_lines.h"
#include "tests/spmv/files/matrix_market_support.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;

std::string unpacked(const std::string& path) {
  TextSource source(path);
  TextLines lines(source, {});
  std::string all;
  for (auto block = lines.next(); !block.empty(); block = lines.next()) all += block;
  return all;
}

TEST_CASE("a matrix is written in order, plain and compressed, and nothing else is left") {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy{});
  const tests::SharedFolder folder(world);
  const std::string path = folder.put("a.mtx",
                                      "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n"
                                      "4 1 0.1\n1 1 2\n4 4 1e-3\n4 2 -7\n");
  const auto matrix = collective_read_matrix_market(world, team, path, PartitionBy::rows);
  const std::string expected =
      "%%MatrixMarket matrix coordinate real general\n% four rows\n4 4 6\n"
      "1 1 2\n1 4 0.1\n2 4 -7\n4 1 0.1\n4 2 -7\n4 4 0.001\n";
  collective_write_matrix_market(world, matrix, folder / "b.mtx", "four rows");
  collective_write_matrix_market(world, matrix, folder / "b.mtx.gz", "four rows");
  CHECK(tests::read_file(folder / "b.mtx") == expected);
  CHECK(unpacked(folder / "b.mtx.gz") == expected);
  CHECK(folder.file_count() == 3);
}

TEST_CASE("a compressed file has the same bytes for any number of ranks") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const std::int64_t all = 400'000;
  const std::int64_t first = all * world.rank() / world.size();
  const auto append = [](std::int64_t item, std::string& text) {
    text += std::to_string(item * item * 7919) + '\n';
  };
  TextItems items;
  items.header = "header\n";
  items.count = all * (world.rank() + 1) / world.size() - first;
  items.append = [&](std::int64_t item, std::string& text) { append(first + item, text); };
  collective_write_text(world, folder / "many.gz", items);

  items.count = world.is_root() ? all : 0;
  items.append = append;
  collective_write_text(world, folder / "one.gz", items);
  CHECK(tests::read_file(folder / "many.gz") == tests::read_file(folder / "one.gz"));
}

TEST_CASE("writing is refused before the work where it cannot succeed") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  const auto fault = [&](const std::string& path) {
    return tests::input_error_of([&] { collective_check_writable(world, path); });
  };
  CHECK(fault(folder / "missing/x.mtx") ==
        "x.mtx: cannot be written (No such file or directory); expected a writable file");
  CHECK(fault(folder / ".") == ".: cannot be written (is a folder); expected a writable file");
  CHECK(fault("/dev/null") ==
        "null: cannot be written (is a pipe or a device); expected a writable file");
  CHECK(fault("") == ": cannot be written (not the name of a file); expected a writable file");
  CHECK(tests::input_error_of([&] {
          collective_write_text(world, folder / "missing/x.mtx", TextItems{"h\n", 0, {}});
        }) == "x.mtx: cannot be written (No such file or directory); expected a writable file");
}

TEST_CASE("asking whether a file can be written changes nothing") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  collective_check_writable(world, folder / "new.mtx");
  CHECK(folder.file_count() == 0);
  world.barrier();
  folder.put("old.mtx", "as it was");
  collective_check_writable(world, folder / "old.mtx");
  CHECK(tests::read_file(folder / "old.mtx") == "as it was");
  CHECK(folder.file_count() == 1);
}

TEST_CASE("a link is followed, not replaced") {
  const auto world = Communicator::collective_world();
  const tests::SharedFolder folder(world);
  folder.put("old.mtx", "as it was");
  if (world.is_root()) std::filesystem::create_symlink("old.mtx", folder / "link.mtx");
  world.barrier();
  collective_write_text(world, folder / "link.mtx", TextItems{"new\n", 0, {}});
  CHECK(std::filesystem::is_symlink(folder / "link.mtx"));
  CHECK(tests::read_file(folder / "old.mtx") == "new\n");
}

}  // namespace
}  // namespace weft::spmv
