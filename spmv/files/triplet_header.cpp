#include "spmv/files/triplet_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <vector>

#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"

namespace weft::spmv {
namespace {

using Header = MatrixMarketHeader;

constexpr std::array<std::string_view, 6> endings{".txt", ".dat", ".ijv", ".coo", ".sti", ".mas"};

std::vector<std::int64_t> whole_numbers_of(std::string_view line) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : words_of(line)) {
    std::int64_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stop != end || number < 0) return {};
    numbers.push_back(number);
  }
  return numbers;
}

/// The size line of FreeFEM: "n m nnz half fortran state …", or, in a Morse file, "n m half nnz".
void take_sizes(std::string_view line, bool is_morse, Header& header) {
  enum { rows, columns, half_of_morse, entries_of_morse };
  enum { entries_of_coo = 2, half_of_coo, counts_from_1_of_coo };
  const auto numbers = whole_numbers_of(line);
  if (is_morse ? numbers.size() != 4 : numbers.size() < 5)
    throw TextFault("found " + quoted(line.substr(0, line.find_last_not_of("\r\n") + 1)) +
                    "; expected the size line of FreeFEM, " +
                    (is_morse ? "\"n m half nnz\"" : "\"n m nnz half fortran state ...\""));
  header.row_count = numbers[rows];
  header.column_count = numbers[columns];
  header.entry_count = numbers[is_morse ? int{entries_of_morse} : int{entries_of_coo}];
  const bool has_half = numbers[is_morse ? int{half_of_morse} : int{half_of_coo}] != 0;
  header.symmetry = has_half ? Header::Symmetry::symmetric : Header::Symmetry::general;
  header.base = is_morse || numbers[counts_from_1_of_coo] != 0 ? 1 : 0;
}

/// What the first line of data says.
void take_first_line(std::string_view line, bool is_symmetric, Header& header) {
  const std::size_t words = words_of(line).size();
  if (words > 4)
    throw TextFault("found " + std::to_string(words) +
                    " words; expected \"ROW COLUMN VALUE\" or one number");
  header.is_counted = false;
  header.base = 0;
  if (words == 1) {
    header.format = Header::Format::array;
    header.entry_count = std::numeric_limits<std::int64_t>::max();
    header.row_count = header.entry_count;
    header.column_count = 1;
    return;
  }
  header.field = words == 2   ? Header::Field::pattern
                 : words == 3 ? Header::Field::real
                              : Header::Field::complex;
  if (is_symmetric) header.symmetry = Header::Symmetry::symmetric;
  header.row_count = header.column_count = std::numeric_limits<GlobalIndex>::max();
}

}  // namespace

bool is_triplet_name(std::string_view path) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

MatrixMarketHeader read_triplet_header(std::string_view path, std::string_view block,
                                       std::int64_t& lines_taken) {
  Header header;
  bool is_coo = false;
  bool is_morse = false;
  while (!block.empty()) {
    const std::string_view line = take_lines(block, 0);
    lines_taken = header.line_count + 1;
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    const bool is_comment =
        first != std::string_view::npos && (line[first] == '#' || line[first] == '%');
    if (is_comment && header.line_count == 0) {
      is_coo = line.find("HashMatrix") != std::string_view::npos;
      is_morse = line.find("(Morse)") != std::string_view::npos;
    }
    const bool is_size_line = !is_comment && is_data_line(line);
    if (is_size_line && !is_coo && !is_morse) {
      take_first_line(line, path.ends_with(".sti") || path.ends_with(".mas"), header);
      return header;
    }
    ++header.line_count;
    header.data_begin += static_cast<std::int64_t>(line.size());
    if (is_size_line) {
      take_sizes(line, is_morse, header);
      return header;
    }
  }
  throw TextFault("the file ends before its first entry; expected \"ROW COLUMN VALUE\"");
}

}  // namespace weft::spmv
