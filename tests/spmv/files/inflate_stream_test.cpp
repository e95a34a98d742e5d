#include "spmv/files/inflate_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Wrapping = InflateStream::Wrapping;

/// By zlib. `flush`: Z_FINISH, or Z_FULL_FLUSH for blocks of which none is the last.
std::string deflated(const std::string& text, Wrapping wrapping, int flush = Z_FINISH) {
  constexpr int window = 15;
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, wrapping == Wrapping::gzip ? window + 16 : -window, 8,
               Z_DEFAULT_STRATEGY);
  std::string packed(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, flush);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct Inflated {
  std::string text;
  bool is_complete = false;
  std::string fault;
  std::uint32_t checksum = 0;
};

/// In pieces of these sizes.
Inflated inflated(std::string_view packed, Wrapping wrapping, std::size_t in, std::size_t out) {
  InflateStream stream(wrapping);
  Inflated result;
  std::vector<std::byte> piece(out);
  while (true) {
    const std::size_t got = stream.inflate(piece);
    result.text.append(reinterpret_cast<const char*>(piece.data()), got);
    if (got == piece.size()) continue;
    if (stream.is_at_end() || stream.fault() || packed.empty()) break;
    CHECK(stream.unused().empty());
    stream.give(std::as_bytes(std::span(packed.substr(0, in))));
    packed.remove_prefix(std::min(in, packed.size()));
  }
  result.is_complete = stream.is_at_end();
  result.fault = stream.fault() ? stream.fault() : "";
  result.checksum = stream.checksum();
  return result;
}

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919 % 10007) + '\n';
  return text;
}

}  // namespace

TEST_CASE("deflated data are the same in pieces of any size") {
  const std::string text = numbers(40000);
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  for (const Wrapping wrapping : {Wrapping::none, Wrapping::gzip}) {
    const std::string packed = deflated(text, wrapping);
    for (const std::size_t in : {1U, 77U, 4096U, 1U << 20U})
      for (const std::size_t out : {1U, 1000U, 65536U, 1U << 20U}) {
        INFO("pieces of " << in << " into pieces of " << out);
        const Inflated result = inflated(packed, wrapping, in, out);
        CHECK(result.is_complete);
        CHECK(result.text == text);
        if (wrapping == Wrapping::none) CHECK(result.checksum == checksum);
      }
  }
}

TEST_CASE("deflated data that are cut anywhere give what is before, and do not end") {
  const std::string text = numbers(300);
  for (const Wrapping wrapping : {Wrapping::none, Wrapping::gzip}) {
    const std::string packed = deflated(text, wrapping);
    for (std::size_t size = 0; size < packed.size(); ++size) {
      INFO("cut to " << size << " of " << packed.size());
      const Inflated result = inflated(std::string_view(packed).substr(0, size), wrapping, 50, 100);
      CHECK_FALSE(result.is_complete);
      CHECK(result.fault.empty());
      CHECK(text.starts_with(result.text));
      const auto known =
          static_cast<double>(text.size() * size) / static_cast<double>(packed.size());
      CHECK(static_cast<double>(result.text.size()) > 0.8 * known - 400);
    }
  }
}

TEST_CASE("a changed bit of a gzip member is told, or changes nothing") {
  const std::string text = numbers(300);
  const std::string packed = deflated(text, Wrapping::gzip);
  int told = 0;
  for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string changed = packed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const Inflated result = inflated(changed, Wrapping::gzip, 1000, 1000);
    INFO("bit " << bit << ": " << result.fault);
    CHECK((!result.is_complete || result.text == text));
    told += !result.fault.empty();
  }
  CHECK(told > static_cast<int>(7 * packed.size()));
}

TEST_CASE("everything before a damaged place is returned") {
  const std::string text = numbers(40000);
  const std::string packed = deflated(text, Wrapping::gzip);
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;
  for (const std::size_t out : {100U, 1U << 20U}) {
    const Inflated result = inflated(damaged, Wrapping::gzip, 1 << 20, out);
    CHECK(result.text == text);
    CHECK(result.fault == "incorrect data check");
  }
  // A block that cannot be: what was read ahead comes, too.
  const std::string endless = deflated(text, Wrapping::none, Z_FULL_FLUSH);
  for (const std::size_t out : {1U, 100U, 1U << 20U}) {
    const Inflated result = inflated(endless + "\xff\xff\xff", Wrapping::none, 1 << 20, out);
    CHECK(result.text == text);
    CHECK(result.fault == "invalid block");
  }
}

}  // namespace weft::spmv
