#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct inflate_state;

namespace weft::spmv {

/// Inflates deflate data (RFC 1951) that come in pieces, by ISA-L.
///
/// Every byte before a damaged place is returned.
class InflateStream {
 public:
  enum class Wrapping { none, gzip };

  explicit InflateStream(Wrapping wrapping);

  /// Data that come next: what was unused of those before, too. They outlive the next `inflate`.
  void give(std::span<const std::byte> packed);
  /// Data given that were not needed yet.
  std::span<const std::byte> unused() const;

  /// Fills `piece` from its start and returns how much: less than all of it at the end, before a
  /// damaged place, and where more data are needed.
  std::size_t inflate(std::span<std::byte> piece);
  /// True if all was returned. Of gzip a member is meant; its checksum is right then.
  bool is_at_end() const;
  /// What is wrong behind all that was returned; null if nothing is known.
  const char* fault() const;
  /// CRC-32 of all that was returned. Not of gzip, where it is compared.
  std::uint32_t checksum() const;

  /// Begins another gzip member, with the data that are unused.
  void restart();

 private:
  struct Deleter {
    void operator()(inflate_state* state) const;
  };

  std::size_t take_kept(std::span<std::byte> piece);

  std::unique_ptr<inflate_state, Deleter> state_;
  int code_ = 0;
};

}  // namespace weft::spmv
