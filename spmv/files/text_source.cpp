#include "spmv/files/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw TextFault(what + " (" + std::strerror(errno) + "); expected a readable file");
}

}  // namespace

TextSource::TextSource(const std::string& path)
    : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0)
    throw TextAccessFault(std::string("cannot be opened (") + std::strerror(errno) +
                          "); expected a readable file");
  try {
    struct stat status{};
    if (fstat(file_, &status) != 0) fail("cannot be examined");
    if (S_ISDIR(status.st_mode)) throw TextFault("is a directory; expected a file");
    if (!S_ISREG(status.st_mode)) throw TextFault("is a pipe or a device; expected a regular file");
    stored_bytes_ = status.st_size;
    std::array<unsigned char, 2> magic{};
    is_compressed_ =
        pread(file_, magic.data(), magic.size(), 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    seek(0);
  } catch (...) {
    close(file_);
    throw;
  }
}

TextSource::~TextSource() {
  if (file_ >= 0) close(file_);
}

TextSource::TextSource(TextSource&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      stored_bytes_(other.stored_bytes_),
      is_compressed_(other.is_compressed_),
      offset_(other.offset_),
      inflater_(std::move(other.inflater_)) {}

TextSource& TextSource::operator=(TextSource&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(stored_bytes_, other.stored_bytes_);
  std::swap(is_compressed_, other.is_compressed_);
  std::swap(offset_, other.offset_);
  std::swap(inflater_, other.inflater_);
  return *this;
}

void TextSource::seek(std::int64_t offset) {
  offset_ = offset;
  if (!is_compressed_) return;
  inflater_.emplace(file_);
  std::vector<char> skipped(1 << 16);
  while (offset > 0) {
    const auto wanted = std::min(offset, std::ssize(skipped));
    const std::size_t got = read(std::span(skipped).first(static_cast<std::size_t>(wanted)));
    if (got == 0) break;
    offset -= static_cast<std::int64_t>(got);
  }
}

std::size_t TextSource::read(std::span<char> piece) {
  return is_compressed_ ? inflater_->read(piece) : read_plain(piece);
}

std::size_t TextSource::read_plain(std::span<char> piece) {
  std::size_t filled = 0;
  while (filled < piece.size()) {
    const ssize_t got = pread(file_, piece.data() + filled, piece.size() - filled, offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    offset_ += got;
  }
  return filled;
}

}  // namespace weft::spmv
