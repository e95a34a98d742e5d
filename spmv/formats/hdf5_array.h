#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmv/arrays/number_array.h"
#include "spmv/formats/hdf5_handle.h"

namespace weft::spmv::hdf5 {

/// The sizes of a dataset; empty where it holds no numbers in dimensions.
std::vector<std::int64_t> sizes_of(const Handle& dataset);

/// True if only one of the sizes, at most, is not 1.
bool is_row_or_column(const std::vector<std::int64_t>& sizes);

/// The numbers of a dataset of `parent`, the last dimension fastest: past the library where they
/// lie in the file as they are. Throws comm_thread::InputError where there is none, or not of
/// numbers, and where they are in files of which the library would take missing numbers for zeros.
NumberArray open_array(const Hdf5Name& name, const Handle& parent, const std::string& member);

/// The same of one row or column.
NumberArray open_row_or_column(const Hdf5Name& name, const Handle& parent,
                               const std::string& member);

}  // namespace weft::spmv::hdf5
