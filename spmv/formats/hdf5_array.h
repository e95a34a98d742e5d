#pragma once

#include <cstdint>
#include <string>

#include "spmv/formats/hdf5_handle.h"
#include "spmv/formats/number_array.h"

namespace weft::spmv::hdf5 {

/// The number of values in a dataset that has one dimension, or is one row or column; -1 elsewhere.
std::int64_t count_of(const Handle& dataset);

/// The numbers of a dataset of `parent`: past the library where they lie in the file as they are.
/// Throws comm_thread::InputError where there is none, or not of numbers in one dimension.
NumberArray open_array(const Hdf5Name& name, const Handle& parent, const std::string& member);

}  // namespace weft::spmv::hdf5
