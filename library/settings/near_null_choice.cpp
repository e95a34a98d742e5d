#include "library/settings/near_null_choice.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/settings/file_columns.h"
#include "solver/amg/coarsening/node_rows.h"
#include "solver/amg/found_coordinates.h"
#include "spmv/files/matrix_market_vector.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/names/file_format.h"
#include "spmv/problems/elasticity_generator.h"
#include "spmv/rows/node_pattern.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using solver::amg::NearNullSpace;
using spmv::GlobalIndex;

void check_block_size(GlobalIndex row_count, int block_size) {
  if (row_count % block_size != 0)
    throw InputError(fmt::format("{}: found a matrix of {} rows; expected a multiple",
                                 option_name("block-size", std::to_string(block_size)), row_count));
}

/// Vectors of a file: as many columns.
NearNullSpace collective_read_vectors(const spmv::SparseOperator& op, const std::string& path,
                                      int block_size) {
  const spmv::RowPartition& rows = op.matrix().matrix().partition;
  check_block_size(rows.row_count(), block_size);
  spmv::FileColumns columns =
      collective_read_columns(op, "near-null", path, solver::amg::most_near_null_vectors);
  return {.block_size = block_size,
          .vector_count = static_cast<int>(columns.count),
          .values = std::move(columns.own)};
}

/// Those of the caller's arrays.
NearNullSpace vectors_of_caller(const spmv::DistributedMatrix& matrix,
                                const SolveSettings& settings) {
  const GivenVectors& given = *settings.given;
  const bool has_vectors = given.near_null_count > 0;
  const int block_size = has_vectors ? std::max(1, settings.block_size) : given.dimensions;
  check_block_size(matrix.partition.row_count(), block_size);
  if (!has_vectors)
    return solver::amg::rigid_body_modes(given.coordinates, given.dimensions, matrix.first_row());
  return {
      .block_size = block_size, .vector_count = given.near_null_count, .values = given.near_null};
}

/// The modes of a rigid body at places of nodes, [own nodes][dimensions].
NearNullSpace collective_make_modes(const spmv::SparseOperator& op,
                                    const solver::amg::NodeRows& nodes,
                                    const std::vector<double>& of_nodes) {
  const int dimensions = nodes.block_size();
  return solver::amg::rigid_body_modes(
      nodes.collective_spread<double>(op.communicator(), of_nodes,
                                      static_cast<std::size_t>(dimensions)),
      dimensions, op.matrix().matrix().first_row());
}

/// Reads coordinates from a file in another format than Matrix Market's, where they are columns.
NearNullSpace collective_read_coordinate_columns(const spmv::SparseOperator& op,
                                                 const std::string& path, int block_size) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const GlobalIndex row_count = matrix.partition.row_count();
  std::string fault = fmt::format(
      "{}: found another size for a matrix of {} rows; expected 2 or 3 columns, and as many "
      "entries "
      "as the matrix has rows",
      option_name("coordinates", path), row_count);
  for (const int dimensions : {3, 2}) {
    if ((block_size > 0 && block_size != dimensions) || row_count % dimensions != 0) continue;
    const solver::amg::NodeRows nodes(matrix.partition, matrix.rank, dimensions);
    try {
      spmv::Remarks remarks;
      const spmv::FileColumns columns = spmv::collective_read_columns_file(
          op.communicator(), nodes.nodes(), path, dimensions, remarks);
      if (columns.count == dimensions) return collective_make_modes(op, nodes, columns.own);
    } catch (const InputError& error) {  // on every rank
      fault = error.what();
    }
  }
  throw InputError(fault);
}

/// The modes of a rigid body with a row of coordinates for each node.
NearNullSpace collective_read_coordinates(const spmv::SparseOperator& op, const std::string& path,
                                          int block_size) {
  if (spmv::format_of(path) != spmv::FileFormat::matrix_market)
    return collective_read_coordinate_columns(op, path, block_size);
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const GlobalIndex row_count = matrix.partition.row_count();
  const spmv::ArraySize size = spmv::collective_array_size(op.communicator(), path);
  if ((size.column_count != 2 && size.column_count != 3) ||
      size.row_count * size.column_count != row_count)
    throw InputError(fmt::format(
        "{}: found {} rows and {} columns for a matrix of {} rows; expected 2 or 3 "
        "columns, and as many entries as the matrix has rows",
        option_name("coordinates", path), size.row_count, size.column_count, row_count));
  const auto dimensions = static_cast<int>(size.column_count);
  if (block_size > 0 && block_size != dimensions)
    throw InputError(fmt::format("{}: found {} coordinates a node; expected {}",
                                 option_name("block-size", std::to_string(block_size)), dimensions,
                                 dimensions));
  const solver::amg::NodeRows nodes(matrix.partition, matrix.rank, dimensions);
  return collective_make_modes(op, nodes,
                               spmv::collective_read_array(op.communicator(), nodes.nodes(), path));
}

NearNullSpace modes_of_elasticity(const spmv::DistributedMatrix& matrix,
                                  const spmv::Problem& problem) {
  const spmv::ElasticityGenerator generator(problem);
  std::vector<double> coordinates;
  for (GlobalIndex row = matrix.first_row(); row < matrix.partition.end(matrix.rank); ++row)
    for (const double coordinate :
         generator.coordinates(row / spmv::ElasticityGenerator::rows_of_node))
      coordinates.push_back(coordinate);
  return solver::amg::rigid_body_modes(coordinates, 3, matrix.first_row());
}

/// The modes of a rigid body, whose coordinates are found in the matrix; no vectors where they are
/// not.
NearNullSpace collective_estimate_modes(const spmv::SparseOperator& op, int dimensions) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const solver::amg::NodeRows nodes(matrix.partition, matrix.rank, dimensions);
  const std::vector<double> of_nodes = solver::amg::collective_find_coordinates(op, nodes).places;
  if (op.communicator().max(std::ssize(of_nodes)) == 0) return {};
  return collective_make_modes(op, nodes, of_nodes);
}

/// Estimates the modes of a rigid body because the settings ask for them; throws where it cannot.
NearNullSpace collective_estimate_asked_modes(const spmv::SparseOperator& op, int block_size) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const int size =
      block_size > 0 ? block_size : spmv::collective_find_node_size(op.communicator(), matrix);
  const std::string name = option_name("coordinates", estimated);
  if (size != 2 && size != 3)
    throw InputError(
        fmt::format("{}: found {} rows a node; expected 2 or 3, by the pattern of the matrix or by "
                    "{}",
                    name, size, option_name("block-size")));
  check_block_size(matrix.partition.row_count(), size);
  NearNullSpace modes = collective_estimate_modes(op, size);
  if (modes.is_constant())
    throw InputError(name + ": found a matrix that is not of elasticity; expected " +
                     option_name("block-size", std::to_string(size)));
  return modes;
}

/// Finds the vectors of nodes that the pattern shows; the constant vector where it shows none.
NearNullChoice collective_find_near_null(const spmv::SparseOperator& op) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const int size = spmv::collective_find_node_size(op.communicator(), matrix);
  if (size == 1) return {};
  if (size <= 3)
    if (NearNullSpace modes = collective_estimate_modes(op, size); !modes.is_constant())
      return {.space = std::move(modes),
              .why = fmt::format(
                  "{}: {} consecutive rows each are the displacements of a node, whose place was "
                  "estimated from the matrix; coarse levels keep the motions of a rigid body",
                  option_name("coordinates", estimated), size)};
  return {.space = solver::amg::constants_of_nodes(size, matrix.first_row(), matrix.rows.row_count),
          .why = fmt::format("{}: {} consecutive rows each have entries in the same blocks of "
                             "columns, as those of a node; coarse levels keep a constant for each "
                             "of them",
                             option_name("block-size", std::to_string(size)), size)};
}

}  // namespace

NearNullChoice collective_choose_near_null(const spmv::SparseOperator& op,
                                           const SolveSettings& settings,
                                           const spmv::Problem& problem) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  if (settings.given && (settings.near_null == in_memory || settings.coordinates == in_memory))
    return {.space = vectors_of_caller(matrix, settings)};
  if (!settings.near_null.empty())
    return {.space =
                collective_read_vectors(op, settings.near_null, std::max(1, settings.block_size))};
  if (settings.coordinates == estimated)
    return {.space = collective_estimate_asked_modes(op, settings.block_size)};
  if (!settings.coordinates.empty())
    return {.space = collective_read_coordinates(op, settings.coordinates, settings.block_size)};
  if (settings.block_size > 1) {
    check_block_size(matrix.partition.row_count(), settings.block_size);
    return {.space = solver::amg::constants_of_nodes(settings.block_size, matrix.first_row(),
                                                     matrix.rows.row_count)};
  }
  if (problem.kind == spmv::ProblemKind::elasticity3d && settings.block_size == 0 &&
      settings.has_given_order())
    return {.space = modes_of_elasticity(matrix, problem)};
  const bool is_direct = matrix.partition.row_count() <= settings.parsed_amg()->direct_rows;
  return settings.block_size == 1 || is_direct ? NearNullChoice{} : collective_find_near_null(op);
}

}  // namespace weft::library
