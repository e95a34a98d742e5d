#include "spmv/files/text_inflater.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

constexpr std::size_t packed_bytes = 128 << 10;
constexpr int gzip_window = 15 + 16;
constexpr unsigned char magic[] = {0x1f, 0x8b};

}  // namespace

void TextInflater::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

TextInflater::TextInflater(int file) : file_(file), packed_(packed_bytes), stream_(new z_stream{}) {
  if (inflateInit2(stream_.get(), gzip_window) != Z_OK) throw std::bad_alloc();
}

/// Moves the unused input to the front and reads more behind it.
void TextInflater::refill() {
  const std::size_t unused = stream_->avail_in;
  if (unused > 0) std::memmove(packed_.data(), stream_->next_in, unused);
  ssize_t got = 0;
  do {
    got = pread(file_, packed_.data() + unused, packed_.size() - unused, offset_);
  } while (got < 0 && errno == EINTR);
  if (got < 0)
    throw TextFault(std::string("cannot be read (") + std::strerror(errno) +
                    "); expected a readable file");
  offset_ += got;
  stream_->next_in = packed_.data();
  stream_->avail_in = static_cast<unsigned>(unused) + static_cast<unsigned>(got);
}

/// As gunzip does, ignores what follows the last member if it does not look like another one.
bool TextInflater::starts_another_member() {
  if (stream_->avail_in < sizeof magic) refill();
  return stream_->avail_in >= sizeof magic &&
         std::memcmp(stream_->next_in, magic, sizeof magic) == 0 &&
         inflateReset(stream_.get()) == Z_OK;
}

std::size_t TextInflater::read(std::span<char> piece) {
  stream_->next_out = reinterpret_cast<unsigned char*>(piece.data());
  stream_->avail_out = static_cast<unsigned>(piece.size());
  const auto filled = [&] { return piece.size() - stream_->avail_out; };
  while (!at_end_ && stream_->avail_out > 0) {
    if (stream_->avail_in == 0) refill();
    if (stream_->avail_in == 0) {
      if (filled() > 0) break;  // the next call says it
      throw TextFault("the compressed data ends too early; expected a complete gzip file");
    }
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      at_end_ = !starts_another_member();
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      if (filled() > 0) break;  // zlib says it again at the next call
      throw TextFault(std::string("the compressed data is damaged (") +
                      (stream_->msg ? stream_->msg : "a preset dictionary") +
                      "); expected a sound gzip file");
    }
  }
  return filled();
}

}  // namespace weft::spmv
