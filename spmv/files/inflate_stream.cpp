#include "spmv/files/inflate_stream.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>

#include "spmv/files/checksum.h"

namespace weft::spmv {
namespace {

/// ISA-L counts 32 bits.
constexpr std::size_t most_bytes = 1 << 30;

std::size_t kept_bytes(const inflate_state& state) {
  return static_cast<std::size_t>(std::max(state.tmp_out_valid - state.tmp_out_processed, 0));
}

}  // namespace

void InflateStream::Deleter::operator()(inflate_state* state) const { delete state; }

InflateStream::InflateStream(Wrapping wrapping) : state_(new inflate_state) {
  isal_inflate_init(state_.get());
  state_->crc_flag = wrapping == Wrapping::gzip ? ISAL_GZIP : ISAL_GZIP_NO_HDR;
}

void InflateStream::give(std::span<const std::byte> packed) {
  // ISA-L does not write there.
  state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
  state_->avail_in = static_cast<std::uint32_t>(packed.size());
}

std::span<const std::byte> InflateStream::unused() const {
  return {reinterpret_cast<const std::byte*>(state_->next_in), state_->avail_in};
}

std::size_t InflateStream::inflate(std::span<std::byte> piece) {
  std::size_t filled = 0;
  while (filled < piece.size() && !is_at_end()) {
    const auto rest = piece.subspan(filled, std::min(piece.size() - filled, most_bytes));
    if (code_ < 0) return filled + take_kept(rest);
    state_->next_out = reinterpret_cast<std::uint8_t*>(rest.data());
    state_->avail_out = static_cast<std::uint32_t>(rest.size());
    const std::uint32_t packed_before = state_->avail_in;
    code_ = isal_inflate(state_.get());
    release_wide_registers();
    const std::size_t got = rest.size() - state_->avail_out;
    filled += got;
    if (code_ == ISAL_DECOMP_OK && got == 0 && state_->avail_in == packed_before) break;
  }
  return filled;
}

/// ISA-L reads ahead, and keeps what it found before a damaged place.
std::size_t InflateStream::take_kept(std::span<std::byte> piece) {
  const std::size_t count = std::min(piece.size(), kept_bytes(*state_));
  std::memcpy(piece.data(), state_->tmp_out_buffer + state_->tmp_out_processed, count);
  state_->tmp_out_processed += static_cast<std::int32_t>(count);
  return count;
}

bool InflateStream::is_at_end() const {
  return code_ == ISAL_DECOMP_OK && state_->block_state == ISAL_BLOCK_FINISH;
}

const char* InflateStream::fault() const {
  if (code_ >= 0 || kept_bytes(*state_) > 0) return nullptr;
  switch (code_) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance too far back";
    case ISAL_INVALID_WRAPPER:
      return "incorrect header";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect data check";
    default:
      return "invalid code";
  }
}

std::uint32_t InflateStream::checksum() const { return state_->crc; }

void InflateStream::restart() { isal_inflate_reset(state_.get()); }

}  // namespace weft::spmv
