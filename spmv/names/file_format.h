#pragma once

#include <cstddef>
#include <string_view>

namespace weft::spmv {

/// Format of a file, by the ending of its name.
///
///     .mtx .mtx.gz     Matrix Market        matrix, vector
///     .txt .dat .ijv .coo .sti .mas   entries or numbers as text; only read   matrix, vector
///     .hb .rb .rua .psa ...   Harwell-Boeing, Rutherford-Boeing; only read   matrix with vector
///     NAME.00000       hypre's parts; only read   matrix, vector
///     .petsc .bin      PETSc's binary one   matrix, vector; with ":NUMBER" of an object
///     .npz             SciPy                matrix
///     .npy             NumPy                vector
///     .h5 .hdf5        HDF5                 matrix, vector; with ":NAME" of a group or dataset
///     .h5ad .mat       HDF5 of AnnData and MATLAB
enum class FileFormat {
  matrix_market,
  text,
  harwell_boeing,
  hypre,
  petsc,
  scipy,
  numpy,
  hdf5,
  unknown
};

FileFormat format_of(std::string_view path);
bool is_matrix_file(std::string_view path);
bool is_vector_file(std::string_view path);
/// A format of lines, which ranks parse in shares?
bool is_text_file(std::string_view path);

/// True for names of texts of entries or numbers without a Matrix Market header: `.txt`, `.dat`,
/// `.ijv`, `.coo`, and CalculiX's `.sti` and `.mas`.
bool is_triplet_name(std::string_view path);
/// True for names such as A.hb, A.rb, A.rua, A.psa, in small letters or large ones, and with .gz.
bool is_harwell_boeing_name(std::string_view path);
/// True for names that end in a point and five digits or more, without a colon as in the settings
/// of generated problems.
bool is_hypre_name(std::string_view path);
/// Where the name of the file ends, before the number or the name of what is in it; 0 where the
/// format is another one.
std::size_t end_of_petsc_name(std::string_view path);
std::size_t end_of_hdf5_name(std::string_view path);

}  // namespace weft::spmv
