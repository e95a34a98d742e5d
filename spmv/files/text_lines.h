#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "spmv/files/text_source.h"

namespace weft::spmv {

/// Characters [begin, end) of a text.
struct TextRange {
  static constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = 0;
  std::int64_t end = to_the_end;
};

/// The whole lines of a range of a text, a block at a time, in bounded memory.
///
/// Blocks of 256 KiB stay in the level-2 cache between reading and parsing; mapping the file
/// instead would charge its pages to this process.
/// Throws the TextFault of TextSource, after returning all whole lines before the fault, and one
/// for a line that exceeds a block.
/// Lifetime: the source outlives it and has no other reader meanwhile.
class TextLines {
 public:
  static constexpr std::size_t block_bytes = 256 << 10;

  /// `range`: begins and ends at starts of lines.
  TextLines(TextSource& source, TextRange range, std::size_t longest_block = block_bytes);

  /// One or more lines, each ended by '\n', the last one of the text too; empty at the end.
  /// Valid until the next call.
  std::string_view next();

 private:
  void fill();

  TextSource* source_;
  std::int64_t remaining_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;  // characters handed out by the last call
  std::size_t filled_ = 0;  // characters in the buffer
  bool at_end_ = false;
  std::string fault_;
};

/// The start of the first line at or after `offset` in plain text.
std::int64_t line_start_from(TextSource& source, std::int64_t offset);

/// Removes the first lines from `text`: as many as the first `wanted` characters reach into.
std::string_view take_lines(std::string_view& text, std::size_t wanted);

/// Number of lines of a text: all of them, and those that are neither blank nor a comment.
struct LineCount {
  std::int64_t lines = 0;
  std::int64_t data_lines = 0;
};
LineCount count_lines(std::string_view block);

/// True if the line, which ends in '\n', carries data.
bool is_data_line(std::string_view line);

}  // namespace weft::spmv
