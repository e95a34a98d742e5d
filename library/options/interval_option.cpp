#include "library/options/interval_option.h"

#include <cmath>
#include <cstddef>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::library {

solver::EnergyRange parse_interval(const std::string& text) {
  using comm_thread::number_in;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const auto begin = number_in<double>(std::string_view(text).substr(0, colon));
    const auto end = number_in<double>(std::string_view(text).substr(colon + 1));
    if (begin && end && std::isfinite(*begin) && std::isfinite(*end) && *begin < *end)
      return {.begin = *begin, .end = *end};
  }
  throw comm_thread::InputError("found '" + text +
                                "'; expected A:B, two numbers of which B is the larger one");
}

}  // namespace weft::library
