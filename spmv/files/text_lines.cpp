#include "spmv/files/text_lines.h"

#include <algorithm>
#include <cstring>

#include "spmv/files/text_fault.h"

namespace weft::spmv {

TextLines::TextLines(TextSource& source, TextRange range, std::size_t longest_block)
    : source_(&source), remaining_(range.end - range.begin), buffer_(longest_block + 1) {
  at_end_ = remaining_ <= 0;
  if (!at_end_) source_->seek(range.begin);
}

void TextLines::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(used_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
  filled_ -= used_;
  used_ = 0;
  const std::size_t capacity = buffer_.size() - 1;  // room for a missing '\n'
  while (!at_end_ && filled_ < capacity) {
    const auto wanted = static_cast<std::size_t>(
        std::min(remaining_, static_cast<std::int64_t>(capacity - filled_)));
    std::size_t got = 0;
    try {
      got = source_->read(std::span(buffer_).subspan(filled_, wanted));
    } catch (const TextFault& fault) {
      fault_ = fault.what();
    }
    filled_ += got;
    remaining_ -= static_cast<std::int64_t>(got);
    at_end_ = got == 0 || remaining_ == 0;
  }
}

std::string_view TextLines::next() {
  fill();
  if (at_end_ && fault_.empty() && filled_ > 0 && buffer_[filled_ - 1] != '\n')
    buffer_[filled_++] = '\n';
  const std::string_view all(buffer_.data(), filled_);
  const std::size_t last = all.rfind('\n');
  if (last != std::string_view::npos) {
    used_ = last + 1;
    return all.substr(0, used_);
  }
  if (!fault_.empty()) throw TextFault(fault_);
  if (!all.empty())
    throw TextFault("a line of more than " + std::to_string(buffer_.size() - 1) +
                    " characters; expected shorter lines");
  return {};
}

std::int64_t line_start_from(TextSource& source, std::int64_t offset) {
  if (offset == 0) return 0;
  std::int64_t before = offset - 1;
  source.seek(before);
  std::vector<char> buffer(1 << 12);
  while (before < offset + static_cast<std::int64_t>(TextLines::block_bytes)) {
    const std::size_t got = source.read(buffer);
    if (got == 0) return before;
    const std::string_view piece(buffer.data(), got);
    const std::size_t end = piece.find('\n');
    if (end != std::string_view::npos) return before + static_cast<std::int64_t>(end) + 1;
    before += static_cast<std::int64_t>(got);
  }
  return before;  // inside a line too long to be read, which the rank before this one reports
}

std::string_view take_lines(std::string_view& text, std::size_t wanted) {
  const std::size_t end = wanted < text.size() ? text.find('\n', wanted) : std::string_view::npos;
  const std::string_view lines = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(lines.size());
  return lines;
}

bool is_data_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '\n' && line[first] != '%';
}

LineCount count_lines(std::string_view block) {
  LineCount count;
  while (!block.empty()) {
    const std::string_view line = take_lines(block, 0);
    ++count.lines;
    count.data_lines += is_data_line(line);
  }
  return count;
}

}  // namespace weft::spmv
