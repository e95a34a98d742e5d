#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// VTK's image data, which ParaView opens: values at the points of a grid, in one file that all
/// ranks write (.vti), or in a file of each rank and an index of them (.pvti). The points are one
/// apart, the first is at 0. Source: VTK's "XML file formats".

/// True if the name ends in .vti or .pvti.
bool is_vtk_file(std::string_view path);

/// Writes a vector as the array "x", little-endian doubles behind the XML text. `points`: of the
/// grid in x, y and z, as many in all as rows, x fastest. `own`: [partition.size(rank)]. The files
/// beside NAME.pvti are NAME_RANK.vti; a rank has its piece of the grid in memory meanwhile.
/// Collective. Throws comm_thread::InputError on every rank.
void collective_write_vtk_image(const comm_thread::Communicator& communicator,
                                const RowPartition& partition, std::span<const double> own,
                                const std::array<GlobalIndex, 3>& points, const std::string& path);

}  // namespace weft::spmv
