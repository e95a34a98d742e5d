// Solutions on grids as images of VTK.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/files/file_runs.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::check_refused;
using weft::tests::convert;
using weft::tests::read_file;
using weft::tests::run_foreign_files;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

}  // namespace

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
