#include "spmv/files/text_sink.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

/// zlib compresses whole buffers of this size if no piece written is as large.
constexpr unsigned deflater_buffer_bytes = 256 << 10;
constexpr std::size_t largest_piece = 64 << 10;

gzFile deflater_of(void* handle) { return static_cast<gzFile>(handle); }

}  // namespace

TextSink::TextSink(const std::string& path, const std::string& shown)
    : shown_(shown), file_(open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (file_ < 0) fail();
}

TextSink TextSink::plain(const std::string& path, const std::string& shown, std::int64_t offset) {
  TextSink sink(path, shown);
  sink.offset_ = offset;
  return sink;
}

TextSink TextSink::compressed(const std::string& path, const std::string& shown) {
  TextSink sink(path, shown);
  sink.deflater_ = gzdopen(sink.file_, "wb6");
  if (!sink.deflater_) throw std::bad_alloc();
  sink.file_ = -1;
  gzbuffer(deflater_of(sink.deflater_), deflater_buffer_bytes);
  return sink;
}

TextSink::~TextSink() {
  if (deflater_) gzclose_w(deflater_of(deflater_));
  if (file_ >= 0) close(file_);
}

TextSink::TextSink(TextSink&& other) noexcept
    : shown_(std::move(other.shown_)),
      file_(std::exchange(other.file_, -1)),
      deflater_(std::exchange(other.deflater_, nullptr)),
      offset_(other.offset_) {}

void TextSink::write(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, largest_piece);
    if (deflater_) {
      errno = 0;
      if (gzwrite(deflater_of(deflater_), piece.data(), static_cast<unsigned>(piece.size())) == 0)
        fail();
      text.remove_prefix(piece.size());
      continue;
    }
    const ssize_t written = pwrite(file_, text.data(), text.size(), offset_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    offset_ += written;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TextSink::finish() {
  errno = 0;
  if (deflater_ && gzclose_w(deflater_of(std::exchange(deflater_, nullptr))) != Z_OK) fail();
  if (file_ >= 0 && close(std::exchange(file_, -1)) != 0) fail();
}

void TextSink::fail() const {
  const std::string reason = errno ? std::strerror(errno) : "compression failed";
  throw comm_thread::InputError(shown_ + ": cannot be written (" + reason +
                                "); expected a writable file");
}

}  // namespace weft::spmv
