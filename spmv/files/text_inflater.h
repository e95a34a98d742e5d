#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spmv/files/inflate_stream.h"

namespace weft::spmv {

/// Decompresses a gzip file of one or several members from its start, in pieces.
///
/// Returns every character before a damaged place.
/// Lifetime: the open file outlives it. Throws TextFault.
class TextInflater {
 public:
  /// `file`: a descriptor, read from its start with pread.
  explicit TextInflater(int file);

  /// Fills `piece` from its start and returns how much was there; 0 at the end of the text.
  std::size_t read(std::span<char> piece);

  /// Bytes of the file up to the end of the last member, once `read` has come there.
  std::int64_t used_bytes() const { return offset_ - std::ssize(stream_.unused()); }

 private:
  bool refill();
  bool starts_another_member();

  int file_;
  std::int64_t offset_ = 0;
  std::vector<std::byte> packed_;
  InflateStream stream_{InflateStream::Wrapping::gzip};
  bool at_end_ = false;
};

}  // namespace weft::spmv
