#include "spmv/arrays/number_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/simd.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;
using Kind = NumberType::Kind;

static_assert(std::endian::native == std::endian::little);

/// Read at a time: stays in a cache until it has been converted.
constexpr std::int64_t piece_bytes = 256 << 10;

template <std::unsigned_integral Bits, bool is_big_endian>
Bits bits_at(const std::byte* place) {
  Bits bits{};
  std::memcpy(&bits, place, sizeof(Bits));
  if constexpr (!is_big_endian || sizeof(Bits) == 1)
    return bits;
  else if constexpr (sizeof(Bits) == 2)
    return __builtin_bswap16(bits);
  else if constexpr (sizeof(Bits) == 4)
    return __builtin_bswap32(bits);
  else
    return __builtin_bswap64(bits);
}

constexpr const char* whole_number = "a whole number of 63 bits";

template <std::unsigned_integral Bits>
std::int64_t sign_extended(Bits bits) {
  constexpr int shift = 64 - (8 * static_cast<int>(sizeof(Bits)));
  return static_cast<std::int64_t>(std::uint64_t{bits} << shift) >> shift;
}

/// Calls work(tag of the unsigned type with the size, std::bool_constant of big-endian).
template <class Work>
void with_bits(const NumberType& type, const Work& work) {
  const auto with_order = [&](auto bits) {
    if (type.is_big_endian)
      work(bits, std::true_type());
    else
      work(bits, std::false_type());
  };
  switch (type.bytes) {
    case 1:
      return with_order(std::uint8_t{});
    case 2:
      return with_order(std::uint16_t{});
    case 4:
      return with_order(std::uint32_t{});
    default:
      return with_order(std::uint64_t{});
  }
}

[[noreturn]] void fail(const NumberArray& array, std::int64_t index, const std::string& what,
                       const std::string& expected) {
  throw InputError(array.source->name() + ": " + what + ": number " + std::to_string(index) +
                   " is not " + expected + "; expected numbers that are");
}

/// Reads pieces and calls take(index of the first number, their bytes, how many) for each.
template <class Take>
void for_pieces(const NumberArray& array, std::int64_t begin, std::int64_t count,
                const Take& take) {
  const auto bytes = static_cast<std::int64_t>(array.type.bytes);
  const std::int64_t most = piece_bytes / bytes;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(most, count) * bytes));
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(most, count - done);
    array.source->read(array.offset + (begin + done) * bytes,
                       std::span(piece).first(static_cast<std::size_t>(now * bytes)));
    take(done, piece.data(), now);
    done += now;
  }
}

/// IEEE 754's binary16.
double half_precision(std::uint16_t bits) {
  constexpr int fraction_bits = 10;
  const int exponent = (bits >> fraction_bits) & 0x1f;
  const int fraction = bits & 0x3ff;
  double size = 0.0;
  if (exponent == 0x1f)
    size = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    size = std::ldexp(fraction, -24);
  else
    size = std::ldexp(fraction + 1024, exponent - 25);
  return (bits >> 15) != 0 ? -size : size;
}

[[gnu::always_inline]] inline double reversed(double value) {
  return std::bit_cast<double>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}

/// Puts the bytes of each value in order, where they are not, and throws where it is infinite or
/// none; `first` is the number of values[0].
template <bool is_reversed>
void order_and_check(const NumberArray& array, std::int64_t first, std::span<double> values,
                     const std::string& what) {
  // 0·x is 0, or not a number.
  std::array<double, 8> sums{};
  double sum_of_rest = 0;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    double* const value = values.data();
    const auto count = std::ssize(values);
    std::array<double, 8> lanes{};
    std::ptrdiff_t i = 0;
    for (; i + 8 <= count; i += 8)
      for (std::ptrdiff_t lane = 0; lane < 8; ++lane) {
        if constexpr (is_reversed) value[i + lane] = reversed(value[i + lane]);
        lanes[static_cast<std::size_t>(lane)] += 0.0 * value[i + lane];
      }
    sums = lanes;
    for (; i < count; ++i) {
      if constexpr (is_reversed) value[i] = reversed(value[i]);
      sum_of_rest += 0.0 * value[i];
    }
  });
  for (const double sum : sums) sum_of_rest += sum;
  if (sum_of_rest == 0) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail(array, first + static_cast<std::int64_t>(i), what, "finite");
}

/// Doubles, straight to where they belong.
void read_doubles(const NumberArray& array, std::int64_t begin, std::span<double> values,
                  const std::string& what) {
  constexpr std::size_t most = piece_bytes / sizeof(double);
  for (std::size_t done = 0; done < values.size(); done += most) {
    const auto piece = values.subspan(done, std::min(most, values.size() - done));
    const std::int64_t first = begin + static_cast<std::int64_t>(done);
    array.source->read(array.offset + 8 * first, std::as_writable_bytes(piece));
    if (array.type.is_big_endian)
      order_and_check<true>(array, first, piece, what);
    else
      order_and_check<false>(array, first, piece, what);
  }
}

/// Real parts, after their imaginary parts have been found to be zero.
void read_real_parts(const NumberArray& array, std::int64_t begin, std::span<double> values,
                     const std::string& what) {
  const NumberType part{Kind::real, array.type.bytes / 2, array.type.is_big_endian};
  const NumberArray parts{array.source, array.offset, 2 * array.count, part};
  constexpr std::size_t most = 1 << 14;
  std::vector<double> piece(2 * std::min(most, values.size()));
  for (std::size_t done = 0; done < values.size(); done += most) {
    const std::size_t now = std::min(most, values.size() - done);
    const std::int64_t first = begin + static_cast<std::int64_t>(done);
    parts.read(2 * first, std::span(piece).first(2 * now), what);
    for (std::size_t i = 0; i < now; ++i) {
      if (piece[2 * i + 1] != 0)
        throw InputError(array.source->name() + ": " + what + ": number " +
                         std::to_string(first + static_cast<std::int64_t>(i)) +
                         " is complex; expected real numbers, or imaginary parts that are all "
                         "zero: save the real part, as A.real");
      values[done + i] = piece[2 * i];
    }
  }
}

}  // namespace

void NumberArray::read(std::int64_t begin, std::span<double> values,
                       const std::string& what) const {
  if (type.kind == Kind::complex) return read_real_parts(*this, begin, values, what);
  if (type.kind == Kind::real && type.bytes == 8) return read_doubles(*this, begin, values, what);
  with_bits(type, [&]<class Bits, bool is_big_endian>(Bits, std::bool_constant<is_big_endian>) {
    using Signed = std::make_signed_t<Bits>;
    for_pieces(*this, begin, std::ssize(values),
               [&](std::int64_t first, const std::byte* bytes, std::int64_t size) {
                 const auto to = values.subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(size));
                 for (double& value : to) {
                   const Bits bits = bits_at<Bits, is_big_endian>(bytes);
                   bytes += sizeof(Bits);
                   if (type.kind == Kind::natural)
                     value = static_cast<double>(bits);
                   else if (type.kind == Kind::integer)
                     value = static_cast<double>(static_cast<Signed>(bits));
                   else if constexpr (sizeof(Bits) == 4)
                     value = std::bit_cast<float>(bits);
                   else if constexpr (sizeof(Bits) == 2)
                     value = half_precision(bits);
                 }
                 order_and_check<false>(*this, begin + first, to, what);
               });
  });
}

void NumberArray::read(std::int64_t begin, std::span<std::int64_t> values,
                       const std::string& what) const {
  with_bits(type, [&]<class Bits, bool is_big_endian>(Bits, std::bool_constant<is_big_endian>) {
    if ((type.kind == Kind::real || type.kind == Kind::complex) && !values.empty())
      fail(*this, begin, what, whole_number);
    const bool is_natural = type.kind == Kind::natural;
    for_pieces(*this, begin, std::ssize(values),
               [&](std::int64_t first, const std::byte* bytes, std::int64_t size) {
                 std::int64_t* const to = values.data() + first;
                 if (is_natural)
                   for (std::int64_t i = 0; i < size; ++i)
                     to[i] = static_cast<std::int64_t>(
                         bits_at<Bits, is_big_endian>(bytes + i * std::int64_t{sizeof(Bits)}));
                 else
                   for (std::int64_t i = 0; i < size; ++i)
                     to[i] = sign_extended(
                         bits_at<Bits, is_big_endian>(bytes + i * std::int64_t{sizeof(Bits)}));
                 // Of naturals only those of 64 bits can be too large; they look negative then.
                 if (is_natural && sizeof(Bits) == 8)
                   for (std::int64_t i = 0; i < size; ++i)
                     if (to[i] < 0) fail(*this, begin + first + i, what, whole_number);
               });
  });
}

void NumberArray::begin_sum(std::int64_t begin, std::int64_t end) const {
  if (PartOfBytes* const part = source->unchecked())
    part->begin_sum(offset + begin * type.bytes, offset + end * type.bytes);
}

void NumberArray::check_size(const std::string& what) const {
  const std::int64_t left = source->size() - offset;
  if (count >= 0 && left >= 0 && count <= left / type.bytes) return;
  throw InputError(source->name() + ": " + what + ": found " + std::to_string(count) +
                   " numbers of " + std::to_string(type.bytes) + " bytes where " +
                   std::to_string(std::max<std::int64_t>(left, 0)) +
                   " bytes are left; expected a longer file or fewer");
}

Remarks remarks_on_complex(const NumberArray& array) {
  if (array.type.kind != Kind::complex) return {};
  return {array.source->name() +
          ": complex numbers whose imaginary parts are all zero; the real parts were read"};
}

Remarks remarks_on_numbers(const NumberArray& array) {
  Remarks remarks = remarks_on_complex(array);
  const std::string name = array.source->name() + ": ";
  const std::int64_t left = array.source->size() - array.offset - array.count * array.type.bytes;
  if (left > 0)
    remarks.push_back(name + std::to_string(left) + " bytes behind the last number were not read");
  return remarks;
}

namespace {

/// The bytes of the numbers, which are read in whole numbers.
class ComputedBytes final : public ByteSource {
 public:
  ComputedBytes(std::shared_ptr<ByteSource> file, std::int64_t count,
                std::function<std::int64_t(std::int64_t)> number)
      : file_(std::move(file)), count_(count), number_(std::move(number)) {}

  std::int64_t size() const override { return count_ * bytes; }
  void read(std::int64_t offset, std::span<std::byte> piece) override {
    std::int64_t index = offset / bytes;
    for (std::size_t done = 0; done < piece.size(); done += sizeof(std::int64_t)) {
      const std::int64_t number = number_(index++);
      std::memcpy(piece.data() + done, &number, sizeof(number));
    }
  }
  bool is_parallel() const override { return true; }
  const std::string& name() const override { return file_->name(); }

 private:
  static constexpr std::int64_t bytes = sizeof(std::int64_t);

  std::shared_ptr<ByteSource> file_;
  std::int64_t count_;
  std::function<std::int64_t(std::int64_t)> number_;
};

class GatheredBytes final : public ByteSource {
 public:
  GatheredBytes(std::shared_ptr<ByteSource> whole, std::int64_t size,
                std::function<std::int64_t(std::int64_t)> place)
      : whole_(std::move(whole)), size_(size), place_(std::move(place)) {}

  std::int64_t size() const override { return size_; }
  /// Reads runs of bytes that follow one another in `whole`, which two ends show: the place of a
  /// byte ascends at least as fast as its number.
  void read(std::int64_t offset, std::span<std::byte> piece) override {
    for (std::int64_t done = 0; done < std::ssize(piece);) {
      const std::int64_t begin = place_(offset + done);
      std::int64_t least = 1;
      std::int64_t most = std::ssize(piece) - done;
      while (least < most) {
        const std::int64_t middle = most - (most - least) / 2;
        if (place_(offset + done + middle - 1) == begin + middle - 1)
          least = middle;
        else
          most = middle - 1;
      }
      whole_->read(begin,
                   piece.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(least)));
      done += least;
    }
  }
  bool is_parallel() const override { return whole_->is_parallel(); }
  const std::string& name() const override { return whole_->name(); }

 private:
  std::shared_ptr<ByteSource> whole_;
  std::int64_t size_;
  std::function<std::int64_t(std::int64_t)> place_;
};

}  // namespace

std::shared_ptr<ByteSource> gathered_bytes(std::shared_ptr<ByteSource> whole, std::int64_t size,
                                           std::function<std::int64_t(std::int64_t)> place) {
  return std::make_shared<GatheredBytes>(std::move(whole), size, std::move(place));
}

NumberArray computed_numbers(std::shared_ptr<ByteSource> file, std::int64_t count,
                             std::function<std::int64_t(std::int64_t)> number) {
  const NumberType type{NumberType::Kind::integer, sizeof(std::int64_t), false};
  return {std::make_shared<ComputedBytes>(std::move(file), count, std::move(number)), 0, count,
          type};
}

}  // namespace weft::spmv
