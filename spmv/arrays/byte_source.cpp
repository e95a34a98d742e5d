#include "spmv/arrays/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "spmv/files/checksum.h"
#include "spmv/files/inflate_stream.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw InputError(path + ": " + what + " (" + std::strerror(errno) +
                   "); expected a readable file");
}

}  // namespace

void Checksum::compare(std::uint32_t found, const std::string& file) const {
  if (found == expected) return;
  throw InputError(fmt::format("{}: {} is damaged: found the checksum {:08x}; expected {:08x}",
                               file, member, found, expected));
}

FileBytes::FileBytes(std::string path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0)
    throw comm_thread::FileAccessError(path_ + ": cannot be opened (" + std::strerror(errno) +
                                       "); expected a readable file");
  struct stat status{};
  const bool is_known = fstat(file_, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    close(file_);
    throw InputError(path_ + ": is no regular file; expected one");
  }
  size_ = status.st_size;
}

FileBytes::~FileBytes() { close(file_); }

void FileBytes::read(std::int64_t offset, std::span<std::byte> piece) {
  while (!piece.empty()) {
    const ssize_t got = pread(file_, piece.data(), piece.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "cannot be read");
    if (got == 0)
      throw InputError(path_ + ": ends after " + std::to_string(offset) +
                       " bytes; expected at least " + std::to_string(piece.size()) + " more");
    offset += got;
    piece = piece.subspan(static_cast<std::size_t>(got));
  }
}

void PartOfBytes::read(std::int64_t offset, std::span<std::byte> piece) {
  if (offset < 0 || std::ssize(piece) > size_ - offset)
    throw InputError(name() + ": a part of it ends after " + std::to_string(size_) +
                     " bytes; expected more");
  whole_->read(begin_ + offset, piece);
  const std::int64_t first = std::max(offset, sum_begin_);
  const std::int64_t last = std::min(offset + std::ssize(piece), sum_end_);
  if (first >= last) return;
  const std::uint32_t sum = checksum_of(0, piece.subspan(static_cast<std::size_t>(first - offset),
                                                         static_cast<std::size_t>(last - first)));
  // Moved to its place: as if zeros, whose checksum is 0, followed to the end.
  sum_.fetch_xor(static_cast<std::uint32_t>(crc32_combine(sum, 0, size_ - last)),
                 std::memory_order_relaxed);
}

void PartOfBytes::begin_sum(std::int64_t begin, std::int64_t end) {
  sum_begin_ = begin;
  sum_end_ = end;
  sum_ = 0;
}

std::uint32_t PartOfBytes::sum_of(std::int64_t begin, std::int64_t end) {
  begin_sum(begin, end);
  std::vector<std::byte> piece(64 << 10);
  for (std::int64_t at = begin; at < end; at += std::ssize(piece))
    read(at,
         std::span(piece).first(static_cast<std::size_t>(std::min(end - at, std::ssize(piece)))));
  return sum_;
}

struct InflatedBytes::Stream {
  InflateStream inflate{InflateStream::Wrapping::none};
  std::array<std::byte, 64 << 10> packed{};
  std::int64_t taken = 0;  // packed bytes
};

InflatedBytes::InflatedBytes(std::shared_ptr<ByteSource> whole, std::int64_t begin,
                             std::int64_t packed_size, std::int64_t size, Checksum checksum)
    : whole_(std::move(whole)),
      begin_(begin),
      packed_size_(packed_size),
      size_(size),
      checksum_(std::move(checksum)) {}

InflatedBytes::~InflatedBytes() = default;

void InflatedBytes::inflate_into(std::span<std::byte> piece) {
  InflateStream& inflate = stream_->inflate;
  while (true) {
    const std::size_t got = inflate.inflate(piece);
    piece = piece.subspan(got);
    position_ += static_cast<std::int64_t>(got);
    if (piece.empty()) break;
    if (inflate.fault())
      throw InputError(name() + ": compressed data are damaged; expected a deflate stream");
    const auto count = std::min(packed_size_ - stream_->taken, std::ssize(stream_->packed));
    if (inflate.is_at_end() || count <= 0)
      throw InputError(name() + ": compressed data end too early; expected more");
    const auto packed = std::span(stream_->packed).first(static_cast<std::size_t>(count));
    whole_->read(begin_ + stream_->taken, packed);
    stream_->taken += count;
    inflate.give(packed);
  }
  if (position_ == size_) checksum_.compare(inflate.checksum(), name());
}

void InflatedBytes::read(std::int64_t offset, std::span<std::byte> piece) {
  if (offset < 0 || std::ssize(piece) > size_ - offset)
    throw InputError(name() + ": a part of it ends after " + std::to_string(size_) +
                     " bytes; expected more");
  if (!stream_ || offset < position_) {
    stream_ = std::make_unique<Stream>();
    position_ = 0;
  }
  std::array<std::byte, 16 << 10> skipped{};
  while (position_ < offset)
    inflate_into(std::span(skipped).first(
        static_cast<std::size_t>(std::min(offset - position_, std::ssize(skipped)))));
  inflate_into(piece);
}

}  // namespace weft::spmv
