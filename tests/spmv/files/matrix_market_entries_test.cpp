#include "spmv/files/matrix_market_entries.h"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Header = MatrixMarketHeader;
using Values = MatrixMarketEntries::Values;

Header header_of(Header::Field field = Header::Field::real,
                 Header::Symmetry symmetry = Header::Symmetry::general) {
  Header header;
  header.row_count = header.column_count = 6;
  header.field = field;
  header.symmetry = symmetry;
  return header;
}

double value_of(const std::string& word, Header::Field field = Header::Field::real) {
  double value = 99.0;
  const MatrixMarketEntries entries(header_of(field));
  const auto keep = [&](const MatrixEntry& entry) { value = entry.value; };
  return entries.parse("1 1 " + word + '\n', Values::parse, keep) == 1 ? value : NAN;
}

std::string fault_of(const std::string& line, Header header = header_of()) {
  return MatrixMarketEntries(header).fault_of(line + '\n');
}

TEST_CASE("lines may have blanks, tabs, DOS line ends, comments and empty lines between them") {
  std::vector<MatrixEntry> found;
  const MatrixMarketEntries entries(header_of());
  const std::string text = "1 2 3.5\n\n  \t6\t1   -2e3 \t\r\n%5 5 5\n \r\n   % x\n2 2 0\n";
  CHECK(entries.parse(text, Values::parse, [&](const MatrixEntry& e) { found.push_back(e); }) == 3);
  REQUIRE(found.size() == 3);
  CHECK((found[0].row == 0 && found[0].column == 1 && found[0].value == 3.5));
  CHECK((found[1].row == 5 && found[1].column == 0 && found[1].value == -2000.0));
  CHECK((found[2].row == 1 && found[2].column == 1 && found[2].value == 0.0));
}

TEST_CASE("values may be written as C or Fortran do") {
  CHECK(value_of("1.5D+03") == 1500.0);
  CHECK(value_of("-1.5d-1") == -0.15);
  CHECK(value_of("+2.5") == 2.5);
  CHECK(value_of("+2D0") == 2.0);
  CHECK(value_of(".5") == 0.5);
  CHECK(value_of("5.") == 5.0);
  CHECK(value_of("1E3") == 1000.0);
  CHECK(value_of("4.9406564584124654e-324") == 4.9406564584124654e-324);
  CHECK(value_of("1e-400") == 0.0);
  CHECK(std::signbit(value_of("-0.0")));
  CHECK(value_of("0.1000000000000000055511151231257827") == 0.1);
  CHECK(value_of("0.5+101") == 0.5e101);
  CHECK(value_of("-.25-100") == -0.25e-100);
  CHECK(value_of("+5.-200") == 5e-200);
  CHECK(value_of("0.5-400") == 0.0);
  CHECK(value_of("+7", Header::Field::integer) == 7.0);
  CHECK(value_of("18446744073709551615", Header::Field::integer) == 18446744073709551615.0);
  CHECK(value_of("-7", Header::Field::integer) == -7.0);
}

TEST_CASE("what is not a finite number is refused") {
  for (const char* word : {"nan", "inf",     "-inf", "1e400", "x",     "1.5x", "1..5",  "1e",
                           "+-1", "+",       "-",    "--1",   "0x10",  "1,5",  "1_000", "1d5d",
                           "1 2", "0.5+400", "1+",   "1+-5",  "1e5+3", "+5+",  ""})
    CHECK(std::isnan(value_of(word)));
  for (const char* word : {"1.5", "1e3", "nan", "99999999999999999999", "+-1", ""})
    CHECK(std::isnan(value_of(word, Header::Field::integer)));
}

TEST_CASE("a pass that skips values looks at rows and columns only") {
  const MatrixMarketEntries entries(header_of());
  const auto ignore = [](const MatrixEntry&) {};
  CHECK(entries.parse("1 1 x\n2 2 y y\n3 3\n", Values::skip, ignore) == 3);
  CHECK(entries.parse("1 1 1\n7 1 1\n", Values::skip, ignore) == -1);
}

TEST_CASE("a pattern has no values, all are 1") {
  const MatrixMarketEntries entries(header_of(Header::Field::pattern));
  double sum = 0.0;
  const auto add = [&](const MatrixEntry& entry) { sum += entry.value; };
  CHECK(entries.parse("1 1\n2 3 \r\n", Values::parse, add) == 2);
  CHECK(sum == 2.0);
  CHECK(fault_of("1 1 5", header_of(Header::Field::pattern)) ==
        "found \"5\" at the end of the line; expected nothing more");
  CHECK(fault_of("1", header_of(Header::Field::pattern)) ==
        "the line ends before the column; expected \"ROW COLUMN\"");
}

TEST_CASE("a fault says what was found and what was expected") {
  CHECK(fault_of("1 1 1.0").empty());
  CHECK(fault_of("0 1 1.0") == "found \"0\" as row; expected a whole number from 1 to 6");
  CHECK(fault_of("7 1 1.0") == "found \"7\" as row; expected a whole number from 1 to 6");
  CHECK(fault_of("1 -1 1") == "found \"-1\" as column; expected a whole number from 1 to 6");
  CHECK(fault_of("1 2.5 1") == "found \"2.5\" as column; expected a whole number from 1 to 6");
  CHECK(fault_of("1 18446744073709551617 1") ==
        "found \"18446744073709551617\" as column; expected a whole number from 1 to 6");
  CHECK(fault_of("1") == "the line ends before the column; expected \"ROW COLUMN VALUE\"");
  CHECK(fault_of("1 2") == "the line ends before the value; expected a number");
  CHECK(fault_of("1 2 abc") == "found \"abc\"; expected a finite number");
  CHECK(fault_of("1 2 nan") == "found \"nan\"; expected a finite number");
  CHECK(fault_of("1 2 3 4") == "found \"4\" at the end of the line; expected nothing more");
}

TEST_CASE("a fault of an integer file says that whole numbers are expected") {
  const Header header = header_of(Header::Field::integer);
  CHECK(fault_of("1 2 1.5", header) == "found \"1.5\"; expected a whole number");
  CHECK(fault_of("1 2", header) == "the line ends before the value; expected a whole number");
  CHECK(fault_of("1 2 3 x", header) == "found \"x\" at the end of the line; expected nothing more");
}

TEST_CASE("a skew-symmetric matrix has nothing but zeros on its diagonal") {
  const Header header = header_of(Header::Field::real, Header::Symmetry::skew_symmetric);
  CHECK(fault_of("2 1 1", header).empty());
  CHECK(fault_of("2 2 0", header).empty());
  CHECK(fault_of("2 2 -0.0", header).empty());
  CHECK(fault_of("2 2 1", header) ==
        "found \"1\" on the diagonal; expected nothing but 0 there in a skew-symmetric matrix");
}

TEST_CASE("imaginary parts have to be there and to be 0") {
  const Header header = header_of(Header::Field::complex);
  CHECK(value_of("-2.5 0", Header::Field::complex) == -2.5);
  CHECK(value_of("1D1 -0.0D+00", Header::Field::complex) == 10.0);
  CHECK(fault_of("1 2 3 0", header).empty());
  CHECK(fault_of("1 2 3", header) == "the line ends before the imaginary part; expected a number");
  CHECK(fault_of("1 2 3 1e-300", header) ==
        "found the imaginary part 1e-300; expected 0, because only real systems are solved");
  CHECK(fault_of("1 2 3 x", header) == "found \"x\"; expected a finite number");
  CHECK(fault_of("1 2 3 0 0", header) ==
        "found \"0\" at the end of the line; expected nothing more");
}

TEST_CASE("numbers of an array go to their places column by column") {
  Header header = header_of();
  header.format = Header::Format::array;
  header.row_count = 4;
  header.column_count = 4;
  const auto check = [&](Header::Symmetry symmetry, std::int64_t count, GlobalIndex first_row) {
    header.symmetry = symmetry;
    const MatrixMarketArray array(header);
    CHECK(array.first_of_column(4) == count);
    std::int64_t number = 0;
    const bool is_triangle = symmetry != Header::Symmetry::general;
    for (GlobalIndex column = 0; column < 4; ++column)
      for (GlobalIndex row = is_triangle ? column + first_row : 0; row < 4; ++row)
        CHECK(array.place_of(number++) == std::pair{row, column});
    CHECK(number == count);
  };
  check(Header::Symmetry::general, 16, 0);
  check(Header::Symmetry::symmetric, 10, 0);
  check(Header::Symmetry::skew_symmetric, 6, 1);
}

}  // namespace
}  // namespace weft::spmv
