#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "spmv/formats/byte_source.h"

namespace weft::spmv {

/// Representation of a number in a file.
struct NumberType {
  enum class Kind { integer, natural, real };

  Kind kind = Kind::real;
  int bytes = 8;  // 1, 2, 4 or 8; reals 4 or 8
  bool is_big_endian = false;
};

/// `count` numbers of one type, one after another in `source`.
struct NumberArray {
  std::shared_ptr<ByteSource> source;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  NumberType type;

  /// The numbers from `begin` on. Throws comm_thread::InputError: `what` names the numbers where
  /// they cannot be represented; reals have to be finite.
  void read(std::int64_t begin, std::span<double> values, const std::string& what) const;
  void read(std::int64_t begin, std::span<std::int64_t> values, const std::string& what) const;

  /// The checksum of the source, where it has one, begins to count the numbers [begin, end), which
  /// this rank reads once from now on.
  void begin_sum(std::int64_t begin, std::int64_t end) const;

  /// Throws comm_thread::InputError when the source is too short for the numbers.
  void check_size(const std::string& what) const;
};

}  // namespace weft::spmv
