#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// PETSc's binary files: big-endian numbers, indices of 32 or, from builds with 64-bit indices, of
/// 64 bits, which the first number tells apart.
///
///     matrix   1211216, rows, columns, nonzeros, row lengths, columns of all rows, values
///     vector   1211214, rows, values
///
/// Source: the PETSc manual pages of MatLoad and VecLoad.

/// True if the file begins as a matrix. Throws comm_thread::InputError where it cannot be read.
bool holds_petsc_matrix(const std::string& path);
/// Throws comm_thread::InputError where the file holds no vector.
std::int64_t petsc_vector_length(const std::string& path);

/// Throws comm_thread::InputError where the file holds no square sparse matrix of real numbers.
CsrSource open_petsc_matrix(const std::string& path);

/// The entries of this rank's rows. Collective. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_petsc_vector(const comm_thread::Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path);

/// With indices of 32 bits where all fit. Collective. Throws comm_thread::InputError.
void collective_write_petsc_matrix(const comm_thread::Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path);

/// `own`: [partition.size(rank)]. Collective. Throws comm_thread::InputError.
void collective_write_petsc_vector(const comm_thread::Communicator& communicator,
                                   const RowPartition& partition, std::span<const double> own,
                                   const std::string& path);

}  // namespace weft::spmv
