#include "spmv/formats/matrix_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/arrays/byte_source.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/matrix_market_reader.h"
#include "spmv/files/matrix_market_vector.h"
#include "spmv/files/matrix_market_writer.h"
#include "spmv/formats/csr_reader.h"
#include "spmv/formats/entry_reader.h"
#include "spmv/formats/hdf5_file.h"
#include "spmv/formats/hdf5_output.h"
#include "spmv/formats/numpy_file.h"
#include "spmv/formats/petsc_file.h"
#include "spmv/formats/scipy_file.h"
#include "spmv/formats/vector_reader.h"
#include "spmv/rows/entry_sample.h"
#include "spmv/texts/harwell_boeing_file.h"
#include "spmv/texts/hypre_file.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

CsrSource open_matrix(const std::string& path) {
  switch (format_of(path)) {
    case FileFormat::petsc:
      return open_petsc_matrix(path);
    case FileFormat::hdf5:
      return open_hdf5_matrix(path);
    default:
      return open_scipy_matrix(path);
  }
}

VectorSource open_vector_file(const std::string& path) {
  switch (format_of(path)) {
    case FileFormat::petsc:
      return open_petsc_vector(path);
    case FileFormat::hdf5:
      return open_hdf5_vector(path);
    case FileFormat::scipy:
      return open_scipy_vector(path);
    default:
      return open_numpy_vector(path);
  }
}

/// Opened by every rank, which agree on what is wrong.
CsrSource collective_open(const Communicator& communicator, const std::string& path) {
  std::optional<CsrSource> source;
  comm_thread::collective_attempt(communicator, [&] { source = open_matrix(path); });
  return std::move(*source);
}

void check_base(const std::string& path, IndexBase base) {
  if (base != IndexBase::found && format_of(path) != FileFormat::text)
    throw InputError(
        path + ": found " + comm_thread::option_name("base") +
        " with a format that says where rows count from; expected it with entries as text "
        "(FILE.txt)");
}

/// A format of which one vector of a file is read.
bool holds_one_vector(std::string_view path) {
  const FileFormat format = format_of(path);
  return format == FileFormat::harwell_boeing || format == FileFormat::hypre;
}

/// A format that is not written.
bool is_only_read(std::string_view path) {
  const FileFormat format = format_of(path);
  return format == FileFormat::text || holds_one_vector(path);
}

void collective_check_output(const Communicator& communicator, const std::string& path,
                             bool is_matrix) {
  collective_check_writable(communicator, file_of(path));
  if (format_of(path) != FileFormat::hdf5) return;
  comm_thread::collective_attempt(communicator, [&] {
    if (communicator.is_root()) check_hdf5_output(path, is_matrix);
  });
}

}  // namespace

std::string file_of(const std::string& path) {
  const std::size_t end = std::max(end_of_petsc_name(path), end_of_hdf5_name(path));
  return end > 0 ? path.substr(0, end) : path;
}

void check_matrix_file(const std::string& path) {
  if (!is_matrix_file(path))
    throw InputError(
        path +
        ": found another ending; expected a matrix as FILE.mtx, FILE.mtx.gz, "
        "FILE.petsc, FILE.bin, FILE.npz, FILE.h5, FILE.mat, FILE.txt, FILE.sti, "
        "FILE.mas, FILE.rua, FILE.rb or NAME.00000, as which Python writes what else it "
        "can read: scipy.io.mmwrite('FILE.mtx', A)");
}

void check_vector_file(const std::string& path) {
  if (!is_vector_file(path))
    throw InputError(path +
                     ": found another ending; expected a vector as FILE.mtx, FILE.mtx.gz, "
                     "FILE.petsc, FILE.bin, FILE.npy, FILE.npz, FILE.h5, FILE.mat, FILE.txt, "
                     "FILE.rua or NAME.00000, as which Python writes what else it can read: "
                     "numpy.save('FILE.npy', b)");
}

void check_matrix_output(const std::string& path) {
  if (format_of(path) == FileFormat::petsc) check_petsc_output(path);
  if (is_matrix_file(path) && !is_only_read(path)) return;
  throw InputError(
      path +
      (is_only_read(path) ? ": found an ending that is only read" : ": found another ending") +
      "; expected a matrix as FILE.mtx, FILE.mtx.gz, FILE.petsc, FILE.bin, FILE.npz or "
      "FILE.h5");
}

void check_vector_output(const std::string& path, std::int64_t column_count) {
  const FileFormat format = format_of(path);
  if (format == FileFormat::petsc) check_petsc_output(path);
  if (format == FileFormat::petsc && column_count > 1)
    throw InputError(path + ": found for " + std::to_string(column_count) +
                     " vectors; expected FILE.mtx, FILE.mtx.gz, FILE.npy or FILE.h5, which hold "
                     "several as columns");
  if (is_vector_file(path) && !is_only_read(path) && format != FileFormat::scipy) return;
  throw InputError(
      path +
      (is_only_read(path) ? ": found an ending that is only read" : ": found another ending") +
      "; expected a vector as FILE.mtx, FILE.mtx.gz, FILE.petsc, FILE.bin, FILE.npy or "
      "FILE.h5");
}

void collective_check_matrix_output(const Communicator& communicator, const std::string& path) {
  check_matrix_output(path);
  collective_check_output(communicator, path, true);
}

void collective_check_vector_output(const Communicator& communicator, const std::string& path) {
  check_vector_output(path);
  collective_check_output(communicator, path, false);
}

MatrixFileSize collective_matrix_file_size(const Communicator& communicator,
                                           const std::string& path, IndexBase base) {
  check_matrix_file(path);
  check_base(path, base);
  if (is_text_file(path)) {
    const auto size = collective_matrix_market_size(communicator, path, base);
    return {size.row_count, size.nonzero_count, size.has_varying_rows, size.reach, false};
  }
  if (format_of(path) == FileFormat::harwell_boeing) {
    const auto size = collective_harwell_boeing_size(communicator, path);
    return {size.row_count, size.nonzero_count, true, size.row_count, false};
  }
  if (format_of(path) == FileFormat::hypre) {
    const auto contents = collective_look_into_hypre(communicator, path);
    return {contents.row_count, contents.entry_count, true, contents.row_count, false};
  }
  const CsrSource source = collective_open(communicator, path);
  enum { varying, reach, random };
  std::array<std::int64_t, 3> found{};
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    source.check_sizes(communicator.size());
    const EntrySample sample = sample_entries(source);
    found = {sample.has_varying_rows(), sample.reach(), has_random_couplings(source)};
  });
  communicator.broadcast(found, 0);
  return {source.row_count, source.nonzero_count, found[varying] != 0, found[reach],
          found[random] != 0};
}

namespace {

FileContents collective_look_into_text(const Communicator& communicator, const std::string& path,
                                       IndexBase base) {
  const auto file =
      MatrixMarketFile::collective_open(communicator, path, [](const MatrixMarketHeader&) {}, base);
  const MatrixMarketHeader& header = file.header();
  const bool is_sparse = header.format == MatrixMarketHeader::Format::coordinate;
  const bool is_line = header.row_count == 1 || header.column_count == 1;
  const bool is_square = header.row_count == header.column_count;
  if (!is_square && !is_line)
    throw InputError(path + ":" + std::to_string(header.line_count) + ": found " +
                     std::to_string(header.row_count) + " rows and " +
                     std::to_string(header.column_count) +
                     " columns; expected a square matrix or a vector");
  return {is_square && (is_sparse || !is_line), std::max(header.row_count, header.column_count)};
}

}  // namespace

FileContents collective_look_into(const Communicator& communicator, const std::string& path,
                                  IndexBase base) {
  const FileFormat format = format_of(path);
  if (format == FileFormat::unknown) check_matrix_file(path);
  check_base(path, base);
  if (format == FileFormat::harwell_boeing)
    return {true, collective_harwell_boeing_size(communicator, path).row_count};
  if (format == FileFormat::hypre) {
    const auto contents = collective_look_into_hypre(communicator, path);
    return {contents.is_matrix, contents.row_count};
  }
  if (is_text_file(path)) return collective_look_into_text(communicator, path, base);
  FileContents contents;
  comm_thread::collective_attempt(communicator, [&] {
    if (format == FileFormat::scipy) contents.is_matrix = holds_scipy_matrix(path);
    if (format == FileFormat::petsc) contents.is_matrix = holds_petsc_matrix(path);
    if (format == FileFormat::hdf5) contents.is_matrix = holds_hdf5_matrix(path);
    if (contents.is_matrix)
      contents.row_count = open_matrix(path).row_count;
    else if (format == FileFormat::numpy)
      contents.row_count = open_numpy_array(std::make_shared<FileBytes>(path)).count;
    else if (format == FileFormat::scipy)
      contents.row_count = std::ranges::max(open_scipy_vector(path).sizes());
    else
      contents.row_count =
          format == FileFormat::petsc ? petsc_vector_length(path) : hdf5_vector_length(path);
  });
  return contents;
}

DistributedMatrix collective_read_matrix_file(const Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const std::string& path, PartitionBy partition,
                                              Remarks& remarks, IndexBase base) {
  check_matrix_file(path);
  check_base(path, base);
  if (is_text_file(path))
    return collective_read_matrix_market(communicator, team, path, partition, remarks, base);
  if (format_of(path) == FileFormat::harwell_boeing)
    return collective_read_harwell_boeing(communicator, team, path, partition, remarks);
  if (format_of(path) == FileFormat::hypre)
    return collective_read_hypre_matrix(communicator, team, path, partition, remarks);
  const CsrSource source = collective_open(communicator, path);
  DistributedMatrix matrix = source.layout == CsrSource::Layout::rows
                                 ? collective_read_csr(communicator, team, source, partition)
                                 : collective_read_entries(communicator, team, source, partition);
  collective_compare_checksums(communicator, source);
  remarks.insert(remarks.end(), source.remarks.begin(), source.remarks.end());
  return matrix;
}

DistributedMatrix collective_read_matrix_file(const Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const std::string& path, PartitionBy partition) {
  Remarks unread;
  return collective_read_matrix_file(communicator, team, path, partition, unread);
}

std::int64_t collective_count_columns(const Communicator& communicator, const std::string& path,
                                      const std::function<GlobalIndex()>& row_count) {
  check_vector_file(path);
  if (is_text_file(path)) return collective_count_text_columns(communicator, path, row_count);
  if (holds_one_vector(path)) return 1;
  VectorSource source;
  comm_thread::collective_attempt(communicator, [&] { source = open_vector_file(path); });
  const std::vector<std::int64_t> sizes = source.sizes();
  if (sizes.size() < 2 || (sizes.size() == 2 && sizes[1] == 1)) return 1;
  const GlobalIndex rows = row_count();
  std::int64_t count = 1;
  comm_thread::collective_attempt(
      communicator, [&] { count = columns_of(source, path, rows, any_number_of_columns); });
  return count;
}

FileColumns collective_read_columns_file(const Communicator& communicator,
                                         const RowPartition& partition, const std::string& path,
                                         std::int64_t most, Remarks& remarks) {
  check_vector_file(path);
  if (is_text_file(path))
    return collective_read_columns(communicator, partition, path, most, remarks);
  if (format_of(path) == FileFormat::harwell_boeing)
    return {1, collective_read_harwell_boeing_vector(communicator, partition, path)};
  if (format_of(path) == FileFormat::hypre)
    return {1, collective_read_hypre_vector(communicator, partition, path, remarks)};
  return collective_read_columns(
      communicator, partition, path, most, [&] { return open_vector_file(path); }, remarks);
}

std::vector<double> collective_read_vector_file(const Communicator& communicator,
                                                const RowPartition& partition,
                                                const std::string& path, Remarks& remarks) {
  return collective_read_columns_file(communicator, partition, path, 1, remarks).own;
}

void collective_write_matrix_file(const Communicator& communicator, const DistributedMatrix& matrix,
                                  const std::string& path, const std::string& comment) {
  check_matrix_output(path);
  switch (format_of(path)) {
    case FileFormat::petsc:
      return collective_write_petsc_matrix(communicator, matrix, path);
    case FileFormat::scipy:
      return collective_write_scipy_matrix(communicator, matrix, path);
    case FileFormat::hdf5:
      return collective_write_hdf5_matrix(communicator, matrix, path);
    default:
      return collective_write_matrix_market(communicator, matrix, path, comment);
  }
}

void collective_write_columns_file(const Communicator& communicator, const RowPartition& partition,
                                   std::span<const double> own, std::int64_t count,
                                   const std::string& path) {
  check_vector_output(path, count);
  switch (format_of(path)) {
    case FileFormat::petsc:
      return collective_write_petsc_vector(communicator, partition, own, path);
    case FileFormat::numpy:
      return collective_write_numpy_columns(communicator, partition, own, count, path);
    case FileFormat::hdf5:
      return collective_write_hdf5_columns(communicator, partition, own, count, path);
    default:
      return collective_write_columns(communicator, partition, own, count, path);
  }
}

void collective_write_vector_file(const Communicator& communicator, const RowPartition& partition,
                                  std::span<const double> own, const std::string& path) {
  collective_write_columns_file(communicator, partition, own, 1, path);
}

}  // namespace weft::spmv
