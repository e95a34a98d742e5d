#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "spmv/problems/problem_reader.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// The coefficients of a grid in a file, mapped into memory, so that ranks of a node share it: raw
/// doubles, x fastest, or a NumPy file of float64 with shape (NZ, NY, NX) in C order.
class CoefficientFile {
 public:
  /// Reads all of it once. Fails by `reader` where it is no such file of so many points, or holds a
  /// coefficient that is not finite or not above 0.
  CoefficientFile(const ProblemReader& reader, const std::string& path,
                  const std::array<GlobalIndex, 3>& sizes);
  ~CoefficientFile();
  CoefficientFile(const CoefficientFile&) = delete;
  CoefficientFile& operator=(const CoefficientFile&) = delete;

  const std::string& path() const { return path_; }
  /// The coefficient of the point with row number `row`. Thread: any number at the same time.
  double at(GlobalIndex row) const {
    double value = 0;
    std::memcpy(&value, first_ + static_cast<std::size_t>(row) * sizeof value, sizeof value);
    return value;
  }

 private:
  std::string path_;
  void* mapping_ = nullptr;
  std::size_t byte_count_ = 0;
  const char* first_ = nullptr;  // of the values
};

}  // namespace weft::spmv
