#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "spmv/files/text_inflater.h"

namespace weft::spmv {

/// The characters of a text file, plain or gzip-compressed, read in order and in pieces.
///
/// Compression is detected by the first two bytes, not by the name.
/// Thread: one at a time. Throws TextFault if the file is faulty.
class TextSource {
 public:
  explicit TextSource(const std::string& path);
  ~TextSource();
  TextSource(TextSource&& other) noexcept;
  TextSource& operator=(TextSource&& other) noexcept;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  bool is_compressed() const { return is_compressed_; }

  /// The size of the file as it is stored.
  std::int64_t stored_bytes() const { return stored_bytes_; }

  /// Makes character `offset` of the text the next one. Compressed text is decompressed from its
  /// start up to there.
  void seek(std::int64_t offset);

  /// Fills `piece` from its start and returns how much was there; 0 at the end of the text.
  std::size_t read(std::span<char> piece);

  /// Bytes behind the compressed text, once it has been read to its end; of plain text 0.
  std::int64_t bytes_behind() const {
    return is_compressed_ ? stored_bytes_ - inflater_->used_bytes() : 0;
  }

 private:
  std::size_t read_plain(std::span<char> piece);

  int file_ = -1;
  std::int64_t stored_bytes_ = 0;
  bool is_compressed_ = false;
  std::int64_t offset_ = 0;  // plain text
  std::optional<TextInflater> inflater_;
};

}  // namespace weft::spmv
