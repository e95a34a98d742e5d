// Fortran formats, as Harwell-Boeing files have them in their headers.
#include "spmv/texts/fortran_format.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

/// "BEGIN+WIDTH.DIGITS" of every number, the first ones of long lists.
std::string places_of(const std::string& text) {
  const FortranFormat format = FortranFormat::parse(text);
  std::string places = std::to_string(format.fields.size()) + ":";
  for (std::size_t i = 0; i < format.fields.size() && i < 3; ++i)
    places += " " + std::to_string(format.fields[i].begin) + "+" +
              std::to_string(format.fields[i].width) + "." +
              std::to_string(format.fields[i].digits);
  return places + (format.is_scaled ? " scaled" : "");
}

}  // namespace

TEST_CASE("a Fortran format says in which columns numbers stand") {
  CHECK(places_of("(13I6)") == "13: 0+6.0 6+6.0 12+6.0");
  CHECK(places_of("(5E16.8)") == "5: 0+16.8 16+16.8 32+16.8");
  CHECK(places_of("(1P,5D16.8)") == "5: 0+16.8 16+16.8 32+16.8 scaled");
  CHECK(places_of("(1P5D16.8)") == "5: 0+16.8 16+16.8 32+16.8 scaled");
  CHECK(places_of("(0P,2F8.3)") == "2: 0+8.3 8+8.3");
  CHECK(places_of("(4(E20.12))") == "4: 0+20.12 20+20.12 40+20.12");
  CHECK(places_of("(3(1X,E19.12E3))") == "3: 1+19.12 21+19.12 41+19.12");
  CHECK(places_of("( 2X, i5, 2 f10.0 )") == "3: 2+5.0 7+10.0 17+10.0");
  CHECK(places_of("(1P,2(ES12.4,1X))") == "2: 0+12.4 13+12.4 scaled");
  CHECK(places_of("(g20.10)") == "1: 0+20.10");
}

TEST_CASE("what is no format of numbers is refused") {
  for (const std::string wrong : {"",
                                  "(",
                                  "()",
                                  "(13)",
                                  "(I)",
                                  "(I0)",
                                  "(A8)",
                                  "(I6",
                                  "(I6))",
                                  "(5E16.)",
                                  "(E16.8E)",
                                  "(1X)",
                                  "(99999I6)",
                                  "(9999I6)",
                                  "(I200)",
                                  "(0I6)",
                                  "((((((I6))))))",
                                  "(I5,4(E20.12))",
                                  "(4(E20.12),I5)",
                                  "(0(I6))",
                                  "(2())",
                                  "(*)",
                                  "13I6",
                                  "(I6)x"}) {
    INFO(wrong);
    CHECK_THROWS_AS(FortranFormat::parse(wrong), TextFault);
  }
}

TEST_CASE("formats of a line need no columns of their own") {
  const auto formats = formats_of("(13I6)          (4(E20.12))(1P,5D16.8)  trailing\n");
  CHECK(formats == std::vector<std::string_view>{"(13I6)", "(4(E20.12))", "(1P,5D16.8)"});
  CHECK(formats_of("nothing").empty());
  CHECK_THROWS_AS(formats_of("(13I6) (4(E20.12)\n"), TextFault);
}

}  // namespace weft::spmv
