#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct z_stream_s;

namespace weft::spmv {

/// Decompresses a gzip file of one or several members from its start, in pieces.
///
/// Returns every character before a damaged place, which zlib's gzread does not.
/// Lifetime: the open file outlives it. Throws TextFault.
class TextInflater {
 public:
  /// `file`: a descriptor, read from its start with pread.
  explicit TextInflater(int file);

  /// Fills `piece` from its start and returns how much was there; 0 at the end of the text.
  std::size_t read(std::span<char> piece);

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };

  void refill();
  bool starts_another_member();

  int file_;
  std::int64_t offset_ = 0;
  std::vector<unsigned char> packed_;
  std::unique_ptr<z_stream_s, End> stream_;
  bool at_end_ = false;
};

}  // namespace weft::spmv
