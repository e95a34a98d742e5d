#include "spmv/files/matrix_market_header.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"

namespace weft::spmv {
namespace {

using Header = MatrixMarketHeader;

constexpr const char* wanted_banner =
    "\"%%MatrixMarket matrix coordinate|array real|integer|unsigned-integer|complex|pattern "
    "general|symmetric|skew-symmetric|hermitian\"";

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string_view without_line_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of("\r\n") + 1);
}

/// A word of the banner and its meaning.
template <class Meaning>
struct Choice {
  const char* word;
  Meaning meaning;
};

template <class Meaning, std::size_t count>
Meaning choose(std::string_view word, const Choice<Meaning> (&choices)[count],
               const std::string& expected) {
  const std::string wanted = lower_case(word);
  for (const auto& choice : choices)
    if (wanted == choice.word) return choice.meaning;
  throw TextFault("found " + in_quotes(word) + " in the first line; expected " + expected);
}

/// One number is an array, too, where somebody has called it symmetric.
bool has_half_of_many(const Header& header) {
  return header.symmetry != Header::Symmetry::general &&
         (header.row_count != 1 || header.column_count != 1);
}

}  // namespace

IndexBase parse_index_base(const std::string& word) {
  return word.empty() ? IndexBase::found : word == "0" ? IndexBase::zero : IndexBase::one;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

bool MatrixMarketHeaderParser::take(std::string_view line) {
  ++header_.line_count;
  header_.data_begin += static_cast<std::int64_t>(line.size());
  if (header_.line_count == 1) {
    take_banner(line);
    return false;
  }
  if (!is_data_line(line)) return false;
  take_sizes(line);
  return true;
}

void MatrixMarketHeaderParser::take_banner(std::string_view line) {
  expect_one_byte_a_letter(line);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // of editors that write UTF-8
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  const auto words = words_of(line);
  if (words.empty() || lower_case(words[0]) != "%%matrixmarket" || words.size() != 5)
    throw TextFault("found " + in_quotes(without_line_end(line)) + "; expected " + wanted_banner);
  if (lower_case(words[1]) != "matrix")
    throw TextFault("found " + in_quotes(words[1]) + " in the first line; expected \"matrix\"");
  header_.format = choose<Header::Format>(
      words[2], {{"coordinate", Header::Format::coordinate}, {"array", Header::Format::array}},
      "\"coordinate\" or \"array\"");
  header_.field = choose<Header::Field>(words[3],
                                        {{"real", Header::Field::real},
                                         {"double", Header::Field::real},
                                         {"integer", Header::Field::integer},
                                         {"unsigned-integer", Header::Field::integer},
                                         {"complex", Header::Field::complex},
                                         {"pattern", Header::Field::pattern}},
                                        "\"real\", \"integer\", \"complex\" or \"pattern\"");
  header_.symmetry =
      choose<Header::Symmetry>(words[4],
                               {{"general", Header::Symmetry::general},
                                {"symmetric", Header::Symmetry::symmetric},
                                {"hermitian", Header::Symmetry::symmetric},  // real in the end
                                {"skew-symmetric", Header::Symmetry::skew_symmetric}},
                               "\"general\", \"symmetric\", \"skew-symmetric\" or \"hermitian\"");
  if (header_.field != Header::Field::complex && lower_case(words[4]) == "hermitian")
    throw TextFault("found \"hermitian\" and " + in_quotes(words[3]) +
                    " in the first line; expected \"complex\", or \"symmetric\"");
  if (header_.field == Header::Field::pattern && header_.format == Header::Format::array)
    throw TextFault("found an array of \"pattern\"; expected \"real\" or \"integer\"");
}

void MatrixMarketHeaderParser::take_sizes(std::string_view line) {
  const bool is_array = header_.format == Header::Format::array;
  const std::size_t wanted = is_array ? 2 : 3;
  const auto words = words_of(line);
  std::int64_t sizes[3] = {};
  bool is_right = words.size() == wanted;
  for (std::size_t i = 0; is_right && i < wanted; ++i) {
    const char* end = words[i].data() + words[i].size();
    const auto [stop, error] = std::from_chars(words[i].data(), end, sizes[i]);
    is_right = error == std::errc() && stop == end && sizes[i] >= 0;
  }
  if (!is_right)
    throw TextFault("found " + in_quotes(without_line_end(line)) + "; expected the size line \"" +
                    (is_array ? "ROWS COLUMNS" : "ROWS COLUMNS ENTRIES") + '"');
  header_.row_count = sizes[0];
  header_.column_count = sizes[1];
  if (is_array && sizes[1] > 0 && sizes[0] > std::numeric_limits<std::int64_t>::max() / sizes[1])
    throw TextFault("found " + in_quotes(without_line_end(line)) + "; expected a smaller array");
  const bool has_half = header_.symmetry != Header::Symmetry::general;
  if (is_array && has_half && sizes[0] != sizes[1])
    throw TextFault("found " + in_quotes(without_line_end(line)) +
                    "; expected as many columns as rows of a symmetric array");
  if (!is_array)
    header_.entry_count = sizes[2];
  else if (!has_half)
    header_.entry_count = sizes[0] * sizes[1];
  else
    header_.entry_count = MatrixMarketArray(header_).first_of_column(sizes[1]);
}

MatrixMarketArray::MatrixMarketArray(const MatrixMarketHeader& header)
    : row_count_(header.row_count),
      column_count_(header.column_count),
      is_triangle_(header.symmetry != Header::Symmetry::general),
      skipped_(header.symmetry == Header::Symmetry::skew_symmetric ? 1 : 0) {}

std::int64_t MatrixMarketArray::first_of_column(GlobalIndex column) const {
  if (!is_triangle_) return column * row_count_;
  // The product of two neighbours is even.
  const std::int64_t above =
      column % 2 == 0 ? column / 2 * (column - 1) : (column - 1) / 2 * column;
  return column * (row_count_ - skipped_) - above;
}

std::pair<GlobalIndex, GlobalIndex> MatrixMarketArray::place_of(std::int64_t number) const {
  GlobalIndex column = 0;
  for (GlobalIndex end = column_count_; column + 1 < end;) {
    const GlobalIndex middle = column + (end - column) / 2;
    if (first_of_column(middle) <= number)
      column = middle;
    else
      end = middle;
  }
  const GlobalIndex first_row = is_triangle_ ? column + skipped_ : 0;
  return {first_row + number - first_of_column(column), column};
}

void MatrixMarketHeaderParser::fail_at_end() const {
  if (header_.line_count == 0)
    throw TextFault(std::string("the file is empty; expected ") + wanted_banner);
  throw TextFault("the file ends in its header; expected the size line");
}

void check_is_square_matrix(const Header& header) {
  const std::string sizes = std::to_string(header.row_count) + " rows and " +
                            std::to_string(header.column_count) + " columns";
  if (header.row_count != header.column_count)
    throw TextFault("found " + sizes + "; expected a square matrix");
  if (header.row_count == 0 || header.entry_count == 0)
    throw TextFault("found an empty matrix (" + std::to_string(header.row_count) + " rows, " +
                    std::to_string(header.entry_count) + " entries); expected at least one entry");
}

void check_is_array(const Header& header) {
  if (has_half_of_many(header))
    throw TextFault(
        "found a matrix; expected columns of numbers (\"matrix array real general\" in the first "
        "line)");
}

void expect_one_byte_a_letter(std::string_view text) {
  // With a byte order mark, or two letters of ASCII without one.
  const auto are_letters = [&](std::size_t high) {
    return text.size() >= 4 && text[high] == '\0' && text[high + 2] == '\0' &&
           text[1 - high] != '\0' && text[3 - high] != '\0';
  };
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") || are_letters(0) ||
      are_letters(1))
    throw TextFault("found text in UTF-16; expected ASCII or UTF-8: iconv -f UTF-16 -t UTF-8");
}

void check_fits_ranks(const Header& header, int rank_count) {
  const GlobalIndex most = GlobalIndex{std::numeric_limits<LocalIndex>::max()} * rank_count;
  if (header.row_count > most)
    throw TextFault("found " + std::to_string(header.row_count) + " rows; expected at most " +
                    std::to_string(most) + " on " + std::to_string(rank_count) + " ranks");
}

void check_fits_file(const Header& header, std::int64_t stored_bytes, bool is_compressed) {
  constexpr GlobalIndex small = 1 << 16;
  constexpr std::int64_t most_compression = 1032;  // of deflate
  constexpr std::int64_t most_rows_of_entry = 16;
  const std::int64_t least_line = header.format == Header::Format::array   ? 2
                                  : header.field == Header::Field::pattern ? 4
                                                                           : 6;
  const std::int64_t text_bytes = stored_bytes * (is_compressed ? most_compression : 1);
  const std::int64_t most_entries = text_bytes / least_line + 1;
  const std::string room = " in a file of " + std::to_string(stored_bytes) +
                           " bytes, which has room for " + std::to_string(most_entries) +
                           " entries at most; expected ";
  if (header.entry_count > small && header.entry_count > most_entries)
    throw TextFault("found " + std::to_string(header.entry_count) + " entries" + room +
                    "no more than that");
  // A sparse vector may have next to no entries.
  if (header.row_count == header.column_count && header.row_count > small &&
      header.row_count / most_rows_of_entry > most_entries)
    throw TextFault("found " + std::to_string(header.row_count) + " rows" + room +
                    "an entry in most rows");
}

namespace {

/// The first `most` words of a line as numbers; none where one is no whole number.
std::vector<std::int64_t> whole_numbers_of(std::string_view line,
                                           std::size_t most = std::string_view::npos) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : words_of(line)) {
    if (numbers.size() == most) break;
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
    throw TextFault("found " + in_quotes(line.substr(0, line.find_last_not_of("\r\n") + 1)) +
                    "; expected the size line of FreeFEM, " +
                    (is_morse ? "\"n m half nnz\"" : "\"n m nnz half fortran state ...\""));
  header.row_count = numbers[rows];
  header.column_count = numbers[columns];
  header.entry_count = numbers[is_morse ? int{entries_of_morse} : int{entries_of_coo}];
  const bool has_half = numbers[is_morse ? int{half_of_morse} : int{half_of_coo}] != 0;
  header.symmetry = has_half ? Header::Symmetry::symmetric : Header::Symmetry::general;
  header.base = is_morse || numbers[counts_from_1_of_coo] != 0 ? 1 : 0;
}

/// Numbers in the next line of data, where the line `before` has one whole number, which says how
/// many there are; else 0. Fewer than five, unless these are all, may be an entry of a matrix.
std::int64_t numbers_behind_count(std::string_view before, std::string_view block) {
  constexpr std::int64_t numbers_of_freefem = 5;
  const auto count = whole_numbers_of(before);
  while (count.size() == 1 && !block.empty()) {
    const std::string_view line = take_lines(block, 0);
    if (!is_data_line(line)) continue;
    const auto words = std::ssize(words_of(line));
    return words > 1 && words >= std::min(numbers_of_freefem, count.front()) ? words : 0;
  }
  return 0;
}

/// A vector as FreeFEM writes it: its length, then as many numbers in each line but the last.
void take_counted_vector(std::string_view line, std::int64_t numbers_a_line, Header& header) {
  ++header.line_count;
  header.data_begin += static_cast<std::int64_t>(line.size());
  header.format = Header::Format::array;
  header.row_count = whole_numbers_of(line).front();
  header.column_count = 1;
  header.has_lines_of_rows = true;
  header.numbers_a_line = numbers_a_line;
  header.entry_count =
      header.row_count / numbers_a_line + (header.row_count % numbers_a_line > 0 ? 1 : 0);
}

/// True if the row and the column are reals of whole value, and not both whole numbers.
bool has_real_place(std::string_view line) {
  if (whole_numbers_of(line, 2).size() == 2) return false;
  std::vector<std::string_view> words = words_of(line);
  words.resize(2);
  return std::ranges::all_of(words, [&](std::string_view word) {
    std::uint64_t number = 0;
    return parse_whole_real(word.data(), line.data() + line.size(), number) != nullptr;
  });
}

/// What the first line of data, of those in `block`, says.
void take_first_line(std::string_view line, std::string_view block, bool is_symmetric, TextUse use,
                     Header& header) {
  constexpr std::size_t most_of_entry = 4;
  const std::size_t words = words_of(line).size();
  if (const auto more = numbers_behind_count(line, block))
    return take_counted_vector(line, more, header);
  header.is_counted = false;
  header.base = 0;
  if (words == 1 || use == TextUse::columns) {
    if (words > 1 && words <= most_of_entry && whole_numbers_of(line, 2).size() == 2)
      throw TextFault("found " + in_quotes(without_line_end(line)) +
                      ", which looks like \"ROW COLUMN VALUE\"; expected columns of numbers with a "
                      "decimal point, as numpy.savetxt writes them, or FILE.mtx");
    header.format = Header::Format::array;
    header.entry_count = std::numeric_limits<std::int64_t>::max();
    header.row_count = header.entry_count;
    header.column_count = static_cast<GlobalIndex>(words);
    header.has_lines_of_rows = words > 1;
    // A row may be a vector. Behind a longer line there may be others.
    const bool is_whole = line.size() < TextLines::block_bytes / 2;
    if (words > 1 && is_whole && count_lines(block).data_lines == 0) {
      header.entry_count = header.row_count = 1;
      header.is_counted = true;
    }
    return;
  }
  if (words > most_of_entry)
    throw TextFault("found " + std::to_string(words) +
                    " words; expected \"ROW COLUMN VALUE\" or one number; Python makes a file of a "
                    "dense matrix: scipy.io.mmwrite(\"FILE.mtx\", A)");
  header.field = words == 2   ? Header::Field::pattern
                 : words == 3 ? Header::Field::real
                              : Header::Field::complex;
  if (is_symmetric) header.symmetry = Header::Symmetry::symmetric;
  if (has_real_place(line)) header.words_of_reals = static_cast<std::int64_t>(words);
  header.row_count = header.column_count = std::numeric_limits<GlobalIndex>::max();
  const auto numbers = whole_numbers_of(line);
  if (numbers.size() == 3 && numbers[0] == numbers[1]) {
    header.announced_rows = numbers[0];
    header.announced_entries = numbers[2];
  }
}

}  // namespace

MatrixMarketHeader read_triplet_header(std::string_view path, std::string_view block, TextUse use,
                                       std::int64_t& lines_taken) {
  Header header;
  bool is_coo = false;
  bool is_morse = false;
  expect_one_byte_a_letter(block);
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
      take_first_line(line, block, path.ends_with(".sti") || path.ends_with(".mas"), use, header);
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
