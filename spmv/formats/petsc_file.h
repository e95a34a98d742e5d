#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// PETSc's binary files: big-endian numbers, indices of 32 or, from builds with 64-bit indices, of
/// 64 bits, which the first number tells apart.
///
///     matrix   1211216, rows, columns, nonzeros, row lengths, columns of all rows, values
///     vector   1211214, rows, values
///     dense    1211216, rows, columns, -1, values by rows
///
/// A file may hold several such objects one after another. Values are doubles, floats, or complex
/// numbers of two doubles: nothing but the number of bytes tells, so the one size is taken with
/// which each object ends where the next one begins, or the file ends.
/// "FILE:NUMBER" names an object, counted from 1; without a number a matrix is the first matrix, a
/// vector the first vector. Source: the PETSc manual pages of MatLoad and VecLoad.

/// Throws comm_thread::InputError where a file to write is named with a number.
void check_petsc_output(const std::string& path);

/// True if the file, or the object that is named, is a matrix. Throws comm_thread::InputError where
/// it cannot be read.
bool holds_petsc_matrix(const std::string& path);
/// Throws comm_thread::InputError where the file holds no vector.
std::int64_t petsc_vector_length(const std::string& path);

/// Throws comm_thread::InputError where the file holds no square matrix.
CsrSource open_petsc_matrix(const std::string& path);

/// The entries of this rank's rows. Collective. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_petsc_vector(const comm_thread::Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path, Remarks& remarks);

/// With indices of 32 bits where all fit. Collective. Throws comm_thread::InputError.
void collective_write_petsc_matrix(const comm_thread::Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path);

/// `own`: [partition.size(rank)]. Collective. Throws comm_thread::InputError.
void collective_write_petsc_vector(const comm_thread::Communicator& communicator,
                                   const RowPartition& partition, std::span<const double> own,
                                   const std::string& path);

}  // namespace weft::spmv
