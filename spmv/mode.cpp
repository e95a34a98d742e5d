#include "spmv/mode.h"

namespace weft::spmv {

const char* name(Mode mode) {
  switch (mode) {
    case Mode::vector:
      return "vector";
    case Mode::overlap:
      return "overlap";
    case Mode::task:
      break;
  }
  return "task";
}

std::optional<Mode> parse_mode(std::string_view text) {
  for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task})
    if (text == name(mode)) return mode;
  return std::nullopt;
}

}  // namespace weft::spmv
