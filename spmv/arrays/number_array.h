#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spmv/arrays/byte_source.h"
#include "spmv/files/remarks.h"

namespace weft::spmv {

/// Representation of a number in a file.
struct NumberType {
  enum class Kind { integer, natural, real, complex };

  Kind kind = Kind::real;
  int bytes = 8;  // 1, 2, 4 or 8; reals 2, 4 or 8; complex 8 or 16
  bool is_big_endian = false;
};

/// `count` numbers of one type, one after another in `source`.
struct NumberArray {
  std::shared_ptr<ByteSource> source;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  NumberType type;

  /// The numbers from `begin` on. Throws comm_thread::InputError: `what` names the numbers where
  /// they cannot be represented; reals have to be finite, imaginary parts zero.
  void read(std::int64_t begin, std::span<double> values, const std::string& what) const;
  void read(std::int64_t begin, std::span<std::int64_t> values, const std::string& what) const;

  /// The checksum of the source, where it has one, begins to count the numbers [begin, end), which
  /// this rank reads once from now on.
  void begin_sum(std::int64_t begin, std::int64_t end) const;

  /// Throws comm_thread::InputError when the source is too short for the numbers.
  void check_size(const std::string& what) const;
};

/// Numbers in any dimensions.
struct ShapedArray {
  NumberArray numbers{};
  std::vector<std::int64_t> shape{};
  bool is_by_columns = false;  // the first index varies fastest
};

/// What to say of complex numbers that were read; nothing of others.
Remarks remarks_on_complex(const NumberArray& array);
/// That, and what to say of bytes behind the last one.
Remarks remarks_on_numbers(const NumberArray& array);

/// `count` whole numbers that stand in no file: `number(i)` for each index i. `file` gives the name
/// for messages. Thread: any number at once.
NumberArray computed_numbers(std::shared_ptr<ByteSource> file, std::int64_t count,
                             std::function<std::int64_t(std::int64_t)> number);

/// `size` bytes of `whole`, without those between: byte i is byte `place(i)` there, and places
/// ascend. Thread: as `whole` says.
std::shared_ptr<ByteSource> gathered_bytes(std::shared_ptr<ByteSource> whole, std::int64_t size,
                                           std::function<std::int64_t(std::int64_t)> place);

}  // namespace weft::spmv
