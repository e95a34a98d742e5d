#pragma once

#include <array>
#include <string>
#include <string_view>

namespace weft::spmv {

/// "FILE.h5:NAME" in its two parts; the name may be missing. Endings of other programs whose files
/// are HDF5: .h5ad of AnnData, .mat of MATLAB from 7.3 on.
struct Hdf5Name {
  std::string file;
  std::string object;

  explicit Hdf5Name(std::string_view path) {
    const std::size_t end = end_of_file_name(path);
    file = path.substr(0, end);
    if (end < path.size()) object = path.substr(end + 1);
  }

  static bool is_one(std::string_view path) { return end_of_file_name(path) > 0; }
  /// Where the name of the file ends; 0 where it is none of HDF5.
  static std::size_t end_of_file_name(std::string_view path) {
    for (const std::string_view ending : {".h5", ".hdf5", ".h5ad", ".mat"}) {
      if (path.ends_with(ending)) return path.size();
      const std::size_t at = path.rfind(std::string(ending) + ":");
      if (at != std::string_view::npos && at + ending.size() + 1 < path.size())
        return at + ending.size();
    }
    return 0;
  }
};

}  // namespace weft::spmv
