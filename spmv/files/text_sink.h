#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::spmv {

/// Text written to an existing file: plain, from an offset on, or gzip-compressed.
///
/// Compressed bytes depend on the text alone, not on the pieces in which it came.
/// Throws comm_thread::InputError.
class TextSink {
 public:
  /// `shown`: the path for messages.
  static TextSink plain(const std::string& path, const std::string& shown, std::int64_t offset);
  static TextSink compressed(const std::string& path, const std::string& shown);
  ~TextSink();
  TextSink(TextSink&& other) noexcept;
  TextSink& operator=(TextSink&&) = delete;

  void write(std::string_view text);

  /// Closes the file; throws if not everything could be written.
  void finish();

 private:
  TextSink(const std::string& path, const std::string& shown);
  [[noreturn]] void fail() const;

  std::string shown_;
  int file_;
  void* deflater_ = nullptr;  // zlib's gzFile, owns the file then
  std::int64_t offset_ = 0;
};

}  // namespace weft::spmv
