#include "spmv/formats/vtk_file.h"

#include <cstdint>
#include <cstring>

#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/shared_output.h"

namespace weft::spmv {
namespace {

/// All before the numbers: the text, and how many bytes there are.
std::string head_of(const std::array<GlobalIndex, 3>& points) {
  std::string extent;
  std::uint64_t bytes = sizeof(double);
  for (const GlobalIndex count : points) {
    extent += (extent.empty() ? "0 " : " 0 ") + std::to_string(count - 1);
    bytes *= static_cast<std::uint64_t>(count);
  }
  std::string head =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n"
      "  <ImageData WholeExtent=\"" +
      extent + "\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n    <Piece Extent=\"" + extent +
      "\">\n"
      "      <PointData Scalars=\"x\">\n"
      "        <DataArray type=\"Float64\" Name=\"x\" format=\"appended\" offset=\"0\"/>\n"
      "      </PointData>\n"
      "    </Piece>\n"
      "  </ImageData>\n"
      "  <AppendedData encoding=\"raw\">\n"
      "   _";
  std::array<char, sizeof(bytes)> count{};
  std::memcpy(count.data(), &bytes, sizeof(bytes));
  return head.append(count.data(), count.size());
}

constexpr std::string_view tail = "\n  </AppendedData>\n</VTKFile>\n";

}  // namespace

bool is_vtk_file(std::string_view path) { return path.ends_with(".vti"); }

void collective_write_vtk_image(const comm_thread::Communicator& communicator,
                                const RowPartition& partition, std::span<const double> own,
                                const std::array<GlobalIndex, 3>& points, const std::string& path) {
  const GlobalIndex rows = partition.row_count();
  // By division, so that no product overflows.
  if (points[0] < 1 || points[1] < 1 || points[2] < 1 || rows % points[0] != 0 ||
      rows / points[0] % points[1] != 0 || rows / points[0] / points[1] != points[2])
    throw comm_thread::InputError(path + ": found " + std::to_string(rows) + " rows; expected " +
                                  std::to_string(points[0]) + "x" + std::to_string(points[1]) +
                                  "x" + std::to_string(points[2]) + ", the points of the grid");
  const std::string head = head_of(points);
  SharedOutput output(communicator, path);
  const std::int64_t value_bytes = 8;
  if (communicator.is_root()) {
    output.write(0, std::as_bytes(std::span(head)));
    output.write(std::ssize(head) + value_bytes * rows, std::as_bytes(std::span(tail)));
  }
  output.write(std::ssize(head) + value_bytes * partition.begin(communicator.rank()),
               std::as_bytes(own));
  output.collective_finish();
}

}  // namespace weft::spmv
