#pragma once

#include <string>
#include <string_view>

#include "spmv/names/file_format.h"

namespace weft::spmv {

/// "FILE.h5:NAME" in its two parts; the name may be missing. Endings of other programs whose files
/// are HDF5: .h5ad of AnnData, .mat of MATLAB from 7.3 on.
struct Hdf5Name {
  std::string file;
  std::string object;

  explicit Hdf5Name(std::string_view path) {
    const std::size_t end = end_of_hdf5_name(path);
    file = path.substr(0, end);
    if (end < path.size()) object = path.substr(end + 1);
  }
};

}  // namespace weft::spmv
