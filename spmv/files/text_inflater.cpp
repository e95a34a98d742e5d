#include "spmv/files/text_inflater.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

constexpr std::size_t packed_bytes = 128 << 10;
constexpr std::array magic{std::byte{0x1f}, std::byte{0x8b}};

}  // namespace

TextInflater::TextInflater(int file) : file_(file), packed_(packed_bytes) {}

/// Moves the unused input to the front and reads more behind it; false if there is no more.
bool TextInflater::refill() {
  const auto unused = stream_.unused();
  if (!unused.empty()) std::memmove(packed_.data(), unused.data(), unused.size());
  const auto free = std::span(packed_).subspan(unused.size());
  ssize_t got = 0;
  do {
    got = pread(file_, free.data(), free.size(), offset_);
  } while (got < 0 && errno == EINTR);
  if (got < 0)
    throw TextFault(std::string("cannot be read (") + std::strerror(errno) +
                    "); expected a readable file");
  offset_ += got;
  stream_.give(std::span(packed_).first(unused.size() + static_cast<std::size_t>(got)));
  return got > 0;
}

/// As gunzip does, ignores what follows the last member if it does not look like another one.
bool TextInflater::starts_another_member() {
  while (stream_.unused().size() < magic.size() && refill()) {
  }
  const auto next = stream_.unused();
  if (next.size() < magic.size() || !std::ranges::equal(next.first(magic.size()), magic))
    return false;
  stream_.restart();
  return true;
}

std::size_t TextInflater::read(std::span<char> piece) {
  std::size_t filled = 0;
  while (!at_end_ && filled < piece.size()) {
    filled += stream_.inflate(std::as_writable_bytes(piece.subspan(filled)));
    if (filled == piece.size()) break;
    if (stream_.is_at_end()) {
      at_end_ = !starts_another_member();
      continue;
    }
    const char* const fault = stream_.fault();
    if (!fault && refill()) continue;
    if (filled > 0) break;  // the next call says it
    if (!fault)
      throw TextFault("the compressed data ends too early; expected a complete gzip file");
    throw TextFault(std::string("the compressed data is damaged (") + fault +
                    "); expected a sound gzip file");
  }
  return filled;
}

}  // namespace weft::spmv
