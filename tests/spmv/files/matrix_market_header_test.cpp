#include "spmv/files/matrix_market_header.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

using Header = MatrixMarketHeader;

Header parse(const std::vector<std::string>& lines) {
  MatrixMarketHeaderParser parser;
  for (const std::string& line : lines)
    if (parser.take(line + '\n')) return parser.header();
  parser.fail_at_end();
}

std::string header_fault(const std::vector<std::string>& lines) {
  try {
    check_is_square_matrix(parse(lines));
  } catch (const TextFault& fault) {
    return fault.what();
  }
  return "";
}

const std::string banner = "%%MatrixMarket matrix coordinate real general";

TEST_CASE("a header may hold comments, blank lines, tabs, DOS line ends and upper case") {
  const Header header = parse({"%%MATRIXMARKET Matrix\tCoordinate  INTEGER Skew-Symmetric\r", "% a",
                               "", " \t\r", "%", "  6\t6  5000000000 \r", "1 1 1"});
  CHECK(header.field == Header::Field::integer);
  CHECK(header.symmetry == Header::Symmetry::skew_symmetric);
  CHECK(header.row_count == 6);
  CHECK(header.column_count == 6);
  CHECK(header.entry_count == 5'000'000'000);
  CHECK(header.line_count == 6);
  CHECK(header.data_begin == 58 + 4 + 1 + 4 + 2 + 20);
}

TEST_CASE("a byte order mark may stand before the banner") {
  const Header header = parse({"\xEF\xBB\xBF" + banner, "3 3 1", "1 1 1"});
  CHECK(header.row_count == 3);
  CHECK(header.data_begin == 3 + 46 + 6);
}

TEST_CASE("\"double\" means real") {
  CHECK(parse({"%%MatrixMarket matrix coordinate double general", "1 1 1"}).field ==
        Header::Field::real);
}

TEST_CASE("an array has two sizes and as many entries as rows") {
  const Header header = parse({"%%MatrixMarket matrix array real general", "7 1"});
  CHECK(header.format == Header::Format::array);
  CHECK(header.entry_count == 7);
  CHECK(parse({"%%MatrixMarket matrix array real general", "7 3"}).entry_count == 21);
  CHECK(parse({"%%MatrixMarket matrix array real symmetric", "7 7"}).entry_count == 28);
  CHECK(parse({"%%MatrixMarket matrix array real skew-symmetric", "7 7"}).entry_count == 21);
}

TEST_CASE("a wrong banner is shown") {
  CHECK_THAT(header_fault({"%MatrixMarket matrix"}),
             Catch::StartsWith("found \"%MatrixMarket matrix\"; expected \"%%MatrixMarket matrix"));
  CHECK_THAT(header_fault({""}), Catch::StartsWith("found \"\"; expected"));
  CHECK_THAT(header_fault({std::string(100, '\x01')}),
             Catch::StartsWith("found \"" + std::string(40, '?') + "…\"; expected"));
  CHECK(header_fault({std::string("\xFF\xFE%\0%\0M\0", 8)}) ==
        "found text in UTF-16; expected ASCII or UTF-8: iconv -f UTF-16 -t UTF-8");
  CHECK_THAT(header_fault({std::string("\0\x12{P", 4)}), Catch::StartsWith("found \"??{P\""));
}

TEST_CASE("a kind of file that is not read is named") {
  CHECK(header_fault({"%%MatrixMarket matrix coordinate quaternion general", "1 1 1"}) ==
        "found \"quaternion\" in the first line; expected \"real\", \"integer\", \"complex\" or "
        "\"pattern\"");
  CHECK(
      header_fault({"%%MatrixMarket matrix coordinate real hermitian", "1 1 1"}) ==
      "found \"hermitian\" and \"real\" in the first line; expected \"complex\", or \"symmetric\"");
  CHECK(header_fault({"%%MatrixMarket matrix coordinate real upper", "1 1 1"}) ==
        "found \"upper\" in the first line; expected \"general\", \"symmetric\", "
        "\"skew-symmetric\" or \"hermitian\"");
  CHECK(header_fault({"%%MatrixMarket graph coordinate real general", "1 1 1"}) ==
        "found \"graph\" in the first line; expected \"matrix\"");
  CHECK(header_fault({"%%MatrixMarket matrix array real general", "4 3"}) ==
        "found 4 rows and 3 columns; expected a square matrix");
  CHECK(header_fault({"%%MatrixMarket matrix array real symmetric", "4 3"}) ==
        "found \"4 3\"; expected as many columns as rows of a symmetric array");
}

TEST_CASE("a wrong size line is shown") {
  const std::string expected = "; expected the size line \"ROWS COLUMNS ENTRIES\"";
  CHECK(header_fault({banner, "3 3"}) == "found \"3 3\"" + expected);
  CHECK(header_fault({banner, "3 3 x"}) == "found \"3 3 x\"" + expected);
  CHECK(header_fault({banner, "3 3 4 5"}) == "found \"3 3 4 5\"" + expected);
  CHECK(header_fault({banner, "3 -3 4"}) == "found \"3 -3 4\"" + expected);
  CHECK(header_fault({banner, "3 3 99999999999999999999"}) ==
        "found \"3 3 99999999999999999999\"" + expected);
}

TEST_CASE("a matrix must be square and must not be empty") {
  CHECK(header_fault({banner, "3 4 1"}) == "found 3 rows and 4 columns; expected a square matrix");
  CHECK(header_fault({banner, "0 0 0"}) ==
        "found an empty matrix (0 rows, 0 entries); expected at least one entry");
}

TEST_CASE("a header that ends too early is told from an empty file") {
  CHECK_THAT(header_fault({}), Catch::StartsWith("the file is empty; expected"));
  CHECK(header_fault({banner, "%"}) == "the file ends in its header; expected the size line");
}

TEST_CASE("more rows than 32-bit local numbers allow are refused") {
  Header header;
  header.row_count = 3'000'000'000;
  CHECK_NOTHROW(check_fits_ranks(header, 2));
  CHECK_THROWS_WITH(check_fits_ranks(header, 1),
                    "found 3000000000 rows; expected at most 2147483647 on 1 ranks");
}

}  // namespace
}  // namespace weft::spmv
