#include "spmv/texts/harwell_boeing_header.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "comm_thread/mpi/number_in.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"

namespace weft::spmv {
namespace {

using Header = HarwellBoeingHeader;

constexpr std::int64_t most_numbers = std::int64_t{1} << 53;

std::string small_letters(std::string_view word) {
  std::string small(word);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

std::string_view without_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
}

/// The whole numbers of `words` from `first` on; those behind `most` are not read.
std::vector<std::int64_t> sizes_of(const std::vector<std::string_view>& words, std::size_t first,
                                   std::size_t most) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = first; i < std::min(words.size(), first + most); ++i) {
    const auto size = comm_thread::number_in<std::int64_t>(words[i]);
    if (!size || *size < 0 || *size > most_numbers) return {};
    sizes.push_back(*size);
  }
  return sizes;
}

void take_line_counts(std::string_view line, Header& header) {
  const auto counts = sizes_of(words_of(line), 0, 5);
  if (counts.size() < 4)
    throw TextFault("found " + in_quotes(without_end(line)) +
                    "; expected how many lines a Harwell-Boeing or Rutherford-Boeing file has: in "
                    "all, of pointers, of row indices and of values");
  header.lines = {counts[1], counts[2], counts[3], counts.size() > 4 ? counts[4] : 0};
}

void take_type(std::string_view word, Header& header) {
  const std::string type = small_letters(word);
  const auto is_one_of = [&](std::size_t place, std::string_view letters) {
    return type.size() == 3 && letters.find(type[place]) != std::string_view::npos;
  };
  if (!is_one_of(0, "rcip") || !is_one_of(1, "uszhr") || !is_one_of(2, "ae"))
    throw TextFault("found the type " + in_quotes(word) +
                    "; expected RUA, RSA, PUA or another of R, C, I or P, then U, S, Z, H or R, "
                    "then A or E");
  if (type[2] == 'e')
    throw TextFault("found the type " + in_quotes(word) +
                    ", a matrix of unassembled elements; expected an assembled one: add the "
                    "elements up and save it with scipy.io.mmwrite(\"FILE.mtx\", A)");
  header.values = type[0] == 'r'   ? Header::Values::real
                  : type[0] == 'i' ? Header::Values::integer
                  : type[0] == 'c' ? Header::Values::complex
                                   : Header::Values::pattern;
  header.symmetry = type[1] == 's' || type[1] == 'h' ? Header::Symmetry::symmetric
                    : type[1] == 'z'                 ? Header::Symmetry::skew_symmetric
                                                     : Header::Symmetry::general;
}

void take_sizes(std::string_view line, Header& header) {
  const auto words = words_of(line);
  if (!words.empty()) take_type(words[0], header);
  const auto sizes = sizes_of(words, 1, 3);
  if (sizes.size() < 3)
    throw TextFault("found " + in_quotes(without_end(line)) +
                    "; expected \"TYPE ROWS COLUMNS ENTRIES\"");
  header.row_count = sizes[0];
  header.column_count = sizes[1];
  header.entry_count = sizes[2];
  if (header.row_count != header.column_count)
    throw TextFault("found " + std::to_string(header.row_count) + " rows and " +
                    std::to_string(header.column_count) + " columns; expected a square matrix");
  if (header.row_count == 0 || header.entry_count == 0)
    throw TextFault("found an empty matrix (" + std::to_string(header.row_count) + " rows, " +
                    std::to_string(header.entry_count) + " entries); expected at least one entry");
}

FortranFormat whole_number_format(std::string_view text) {
  FortranFormat format = FortranFormat::parse(text);
  if (!std::ranges::all_of(format.fields, &FortranFormat::Field::is_integer))
    throw TextFault("found the format " + in_quotes(text) +
                    " of pointers or row indices; expected one of whole numbers, such as (13I6)");
  return format;
}

void take_formats(std::string_view line, Header& header) {
  const auto formats = formats_of(line);
  const bool has_values = header.values != Header::Values::pattern;
  if (formats.size() < (has_values ? 3U : 2U))
    throw TextFault("found " + in_quotes(without_end(line)) +
                    "; expected the formats of pointers, row indices" +
                    (has_values ? " and values" : ""));
  header.pointer_format = whole_number_format(formats[0]);
  header.index_format = whole_number_format(formats[1]);
  if (has_values) header.value_format = FortranFormat::parse(formats[2]);
  // A pattern may leave the format of values out.
  if (header.lines.right_hand_sides > 0 && formats.size() > 2)
    header.right_hand_side_format = FortranFormat::parse(formats.back());
}

void take_right_hand_sides(std::string_view line, Header& header) {
  const auto words = words_of(line);
  const auto sizes = sizes_of(words, 1, 1);
  const std::string type = words.empty() ? "" : small_letters(words[0]);
  if (sizes.empty() || (type[0] != 'f' && type[0] != 'm') ||
      sizes[0] > most_numbers / header.row_count)
    throw TextFault("found " + in_quotes(without_end(line)) +
                    "; expected the type of the right-hand sides, F or M, and their number");
  header.has_whole_right_hand_sides = type[0] == 'f';
  header.right_hand_side_count = sizes[0];
}

}  // namespace

HarwellBoeingHeader read_harwell_boeing_header(std::string_view block, std::int64_t& line) {
  Header header;
  for (line = 1; line <= header.line_count; ++line) {
    if (block.empty())
      throw TextFault(line == 1 ? "the file is empty; expected a Harwell-Boeing or "
                                  "Rutherford-Boeing file"
                                : "the file ends in its header; expected " +
                                      std::to_string(header.line_count) + " lines");
    const std::string_view text = take_lines(block, 0);
    if (line == 2) take_line_counts(text, header);
    if (line == 3) take_sizes(text, header);
    if (line == 4) take_formats(text, header);
    if (line == 5) take_right_hand_sides(text, header);
    if (line == 2 && header.lines.right_hand_sides > 0) header.line_count = 5;
  }
  return header;
}

}  // namespace weft::spmv
