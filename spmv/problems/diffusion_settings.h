#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "spmv/problems/coefficient_file.h"
#include "spmv/problems/problem_reader.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// The coefficient of `diffusion3d:N,…`, a positive number for each point of the grid.
struct DiffusionSettings {
  enum class Kind {
    constant,  // 1
    jumps,  // `ratio` in a cuboid in the middle, half as long in each direction, 1 around it
    checkerboard,  // 1 and `ratio` in turns, in cubes of `block` points
    lognormal,  // exp(sigma * a standard normal number), a hash of (seed, row)
    file,  // those of `file`
  };

  /// `sizes`: of the grid. `words`: what follows the grid; see Problem::parse. Throws
  /// comm_thread::InputError.
  static DiffusionSettings parse(const ProblemReader& reader,
                                 const std::array<GlobalIndex, 3>& sizes,
                                 std::span<const std::string_view> words);
  /// The words again, defaults spelt out.
  std::string text() const;

  Kind kind = Kind::constant;
  double ratio = 1;
  GlobalIndex block = 1;
  double sigma = 0;
  std::uint64_t seed = 1;
  std::shared_ptr<const CoefficientFile> file;
};

}  // namespace weft::spmv
