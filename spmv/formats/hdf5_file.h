#pragma once

#include <cstdint>
#include <string>

#include "spmv/formats/csr_source.h"
#include "spmv/formats/vector_reader.h"

namespace weft::spmv {

/// HDF5 files: a matrix is a group with the names of one of these programs, a vector a dataset, or
/// what Octave keeps in NAME/value.
///
///                 offsets      indices      values      sizes; optional
///     SciPy       indptr       indices      data        shape: dataset or attribute;
///     h5sparse_shape MATLAB 7.3  jc           ir           data        attribute MATLAB_sparse; by
///     columns Octave      value/cidx   value/ridx   value/data  value/nr, value/nc; by columns
///     PETSc       i            j            a           attribute ncols
///
/// Datasets of two dimensions have vectors as columns, of which MATLAB and Octave write one after
/// another; where they have as many numbers as one vector, those follow one another with the last
/// dimension fastest, as PETSc writes blocks. Complex numbers are pairs, named {r, i} by h5py and
/// {real, imag} by MATLAB and Octave, or the last dimension of a dataset of PETSc.
/// "FILE.h5:NAME" names the group or the dataset; without a name it is the root, or the only one
/// there is in it. Names where `name` is missing are written as "matrix" and "vector".
///
/// Datasets whose numbers lie in this very file as they are (h5py's default) are read and written
/// by all ranks in parallel, past the library, which only says where they are; so the library needs
/// no MPI of its own. Compressed and chunked ones, and those of other files to which a link leads,
/// are read through the library by every rank, up to its rows. Builds without HDF5 refuse all of it
/// (hdf5_missing.cpp). Thread: the main thread.

/// The library with its version, or "missing".
std::string hdf5_version();

/// True if the name is of a group, or none is given and there is a matrix. Throws
/// comm_thread::InputError where the file cannot be read.
bool holds_hdf5_matrix(const std::string& path);
/// Throws comm_thread::InputError where the file holds no vector.
std::int64_t hdf5_vector_length(const std::string& path);

/// Throws comm_thread::InputError where the file holds no square sparse matrix of real numbers.
CsrSource open_hdf5_matrix(const std::string& path);

/// Throws comm_thread::InputError where the file holds no dataset of real numbers.
VectorSource open_hdf5_vector(const std::string& path);

}  // namespace weft::spmv
