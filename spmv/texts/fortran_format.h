#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::spmv {

/// Where the numbers of a line stand, as a Fortran format says: "(13I6)", "(1P,5D16.8)",
/// "(4(1X,E20.12))". A line has as many numbers as the format, the last line fewer.
struct FortranFormat {
  struct Field {
    int begin = 0;  // column, from 0
    int width = 0;
    int digits = 0;  // of the fraction, where a number has no point
    bool is_integer = false;
  };

  std::string text;
  std::vector<Field> fields;
  bool is_scaled = false;  // 1P: a number without exponent is divided by 10

  /// Takes the descriptors I, E, D, F, G, X and P, repeated and in parentheses. Throws TextFault.
  static FortranFormat parse(std::string_view text);
};

/// The formats of a line, each from its first parenthesis to the one that closes it; what stands
/// between them does not matter. Throws TextFault where one is not closed.
std::vector<std::string_view> formats_of(std::string_view line);

}  // namespace weft::spmv
