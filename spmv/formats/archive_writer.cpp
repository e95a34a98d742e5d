#include "spmv/formats/archive_writer.h"

#include <zlib.h>

#include <iterator>
#include <sstream>

#include "spmv/files/checksum.h"
#include "spmv/formats/csr_output.h"
#include "spmv/formats/numpy_file.h"

namespace weft::spmv {
namespace {

constexpr std::int64_t zip64_bytes = 20;
constexpr std::int64_t local_bytes = 30;

/// The number's lowest bytes, the lowest first; beyond its eight bytes zeros.
void append(std::string& text, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i, number >>= 8) text += static_cast<char>(number & 0xff);
}

}  // namespace

void ArchiveWriter::PieceChecksum::add(std::span<const std::byte> piece) {
  crc = checksum_of(crc, piece);
  bytes += std::ssize(piece);
}

void ArchiveWriter::PieceChecksum::add(const PieceChecksum& next) {
  crc = static_cast<std::uint32_t>(crc32_combine(crc, next.crc, static_cast<z_off_t>(next.bytes)));
  bytes += next.bytes;
}

void ArchiveWriter::collective_add(const std::string& name, const std::string& type,
                                   const std::string& shape, std::int64_t count, int item_bytes,
                                   std::int64_t first, std::int64_t own,
                                   const Append& append_item) {
  const std::string array = numpy_header(type, shape);
  const std::int64_t size = std::ssize(array) + count * item_bytes;
  const std::int64_t data = offset_ + local_bytes + std::ssize(name) + zip64_bytes;
  PieceChecksum checksum;
  std::int64_t place = data + std::ssize(array) + first * item_bytes;
  in_pieces(own, append_item, [&](std::span<const std::byte> bytes) {
    checksum.add(bytes);
    output_.write(place, bytes);
    place += std::ssize(bytes);
  });
  const PieceChecksum all = collective_combine(array, checksum);
  if (communicator_.is_root()) {
    const std::string local = header_of(name, all, size, false) + array;
    output_.write(offset_, std::as_bytes(std::span(local)));
    directory_ += header_of(name, all, size, true);
  }
  ++members_;
  offset_ = data + size;
}

void ArchiveWriter::collective_finish() {
  if (communicator_.is_root()) {
    const std::string text = directory_ + end_of_directory();
    output_.write(offset_, std::as_bytes(std::span(text)));
  }
  output_.collective_finish();
}

/// That of a whole member, on rank 0.
ArchiveWriter::PieceChecksum ArchiveWriter::collective_combine(const std::string& array,
                                                               const PieceChecksum& own) {
  PieceChecksum all;
  all.add(std::as_bytes(std::span(array)));
  const std::string text = std::to_string(own.crc) + " " + std::to_string(own.bytes);
  for (const std::string& part : communicator_.gather(text)) {
    PieceChecksum next;
    std::istringstream(part) >> next.crc >> next.bytes;
    all.add(next);
  }
  return all;
}

std::string ArchiveWriter::header_of(const std::string& name, const PieceChecksum& checksum,
                                     std::int64_t size, bool is_central) const {
  constexpr std::uint64_t in_zip64 = 0xffffffff;
  constexpr std::uint64_t version = 45;
  constexpr std::uint64_t first_of_1980 = 0x21;
  std::string text;
  append(text, is_central ? 0x02014b50 : 0x04034b50, 4);
  if (is_central) append(text, version, 2);
  append(text, version, 2);
  append(text, 0, 4);  // no flags, stored
  append(text, 0, 2);  // time
  append(text, first_of_1980, 2);
  append(text, checksum.crc, 4);
  append(text, in_zip64, 4);
  append(text, in_zip64, 4);
  append(text, name.size(), 2);
  append(text, is_central ? zip64_bytes + 8 : zip64_bytes, 2);
  if (is_central) {
    append(text, 0, 2 + 2 + 2 + 4);
    append(text, in_zip64, 4);
  }
  text += name;
  append(text, 1, 2);
  append(text, is_central ? 24 : 16, 2);
  append(text, static_cast<std::uint64_t>(size), 8);
  append(text, static_cast<std::uint64_t>(size), 8);
  if (is_central) append(text, static_cast<std::uint64_t>(offset_), 8);
  return text;
}

std::string ArchiveWriter::end_of_directory() const {
  const auto size = static_cast<std::uint64_t>(directory_.size());
  const auto begin = static_cast<std::uint64_t>(offset_);
  std::string text;
  append(text, 0x06064b50, 4);
  append(text, 44, 8);
  append(text, 45, 2);
  append(text, 45, 2);
  append(text, 0, 8);
  append(text, members_, 8);
  append(text, members_, 8);
  append(text, size, 8);
  append(text, begin, 8);
  append(text, 0x07064b50, 4);
  append(text, 0, 4);
  append(text, begin + size, 8);
  append(text, 1, 4);
  append(text, 0x06054b50, 4);
  append(text, 0, 4);
  append(text, members_, 2);
  append(text, members_, 2);
  append(text, size, 4);
  append(text, 0xffffffff, 4);
  append(text, 0, 2);
  return text;
}

}  // namespace weft::spmv
