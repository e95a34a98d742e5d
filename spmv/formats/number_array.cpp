#include "spmv/formats/number_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;
using Kind = NumberType::Kind;

static_assert(std::endian::native == std::endian::little);

constexpr std::int64_t piece_bytes = 64 << 10;

template <std::unsigned_integral Bits>
Bits bits_at(const std::byte* place, bool is_big_endian) {
  std::array<std::byte, sizeof(Bits)> bytes;
  std::memcpy(bytes.data(), place, sizeof(Bits));
  if (is_big_endian) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Bits>(bytes);
}

/// Bits, zero-extended.
std::uint64_t bits_of(const std::byte* place, const NumberType& type) {
  switch (type.bytes) {
    case 1:
      return bits_at<std::uint8_t>(place, false);
    case 2:
      return bits_at<std::uint16_t>(place, type.is_big_endian);
    case 4:
      return bits_at<std::uint32_t>(place, type.is_big_endian);
    default:
      return bits_at<std::uint64_t>(place, type.is_big_endian);
  }
}

std::int64_t sign_extended(std::uint64_t bits, int bytes) {
  const int shift = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

double real_at(const std::byte* place, const NumberType& type) {
  const std::uint64_t bits = bits_of(place, type);
  if (type.kind == Kind::natural) return static_cast<double>(bits);
  if (type.kind == Kind::integer) return static_cast<double>(sign_extended(bits, type.bytes));
  return type.bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                         : std::bit_cast<double>(bits);
}

[[noreturn]] void fail(const NumberArray& array, std::int64_t index, const std::string& what,
                       const std::string& expected) {
  throw InputError(array.source->name() + ": " + what + ": number " + std::to_string(index) +
                   " is not " + expected + "; expected numbers that are");
}

/// Reads pieces and calls take(index, place of the number's bytes) for each number.
template <class Take>
void for_each(const NumberArray& array, std::int64_t begin, std::int64_t count, const Take& take) {
  const auto bytes = static_cast<std::int64_t>(array.type.bytes);
  const std::int64_t most = piece_bytes / bytes;
  std::array<std::byte, piece_bytes> piece;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(most, count - done);
    array.source->read(array.offset + (begin + done) * bytes,
                       std::span(piece).first(static_cast<std::size_t>(now * bytes)));
    for (std::int64_t i = 0; i < now; ++i) take(done + i, piece.data() + i * bytes);
    done += now;
  }
}

}  // namespace

void NumberArray::read(std::int64_t begin, std::span<double> values,
                       const std::string& what) const {
  if (type.kind == Kind::real && type.bytes == 8 && !type.is_big_endian) {
    source->read(offset + 8 * begin, std::as_writable_bytes(values));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        fail(*this, begin + static_cast<std::int64_t>(i), what, "finite");
    return;
  }
  for_each(*this, begin, std::ssize(values), [&](std::int64_t i, const std::byte* place) {
    const double value = real_at(place, type);
    if (!std::isfinite(value)) fail(*this, begin + i, what, "finite");
    values[static_cast<std::size_t>(i)] = value;
  });
}

void NumberArray::read(std::int64_t begin, std::span<std::int64_t> values,
                       const std::string& what) const {
  for_each(*this, begin, std::ssize(values), [&](std::int64_t i, const std::byte* place) {
    const std::uint64_t bits = bits_of(place, type);
    const bool is_natural = type.kind == Kind::natural;
    if (type.kind == Kind::real ||
        (is_natural && bits > std::uint64_t{std::numeric_limits<std::int64_t>::max()}))
      fail(*this, begin + i, what, "a whole number of 63 bits");
    values[static_cast<std::size_t>(i)] =
        is_natural ? static_cast<std::int64_t>(bits) : sign_extended(bits, type.bytes);
  });
}

void NumberArray::check_size(const std::string& what) const {
  const std::int64_t left = source->size() - offset;
  if (count >= 0 && left >= 0 && count <= left / type.bytes) return;
  throw InputError(source->name() + ": " + what + ": found " + std::to_string(count) +
                   " numbers of " + std::to_string(type.bytes) + " bytes where " +
                   std::to_string(std::max<std::int64_t>(left, 0)) +
                   " bytes are left; expected a longer file or fewer");
}

}  // namespace weft::spmv
