#pragma once

#include <string>
#include <utility>
#include <vector>

#include "library/options/option_values.h"
#include "spmv/modes/mode.h"

namespace weft::library {

/// The value of an option that takes the name of a mode. `member`: as in Values.
template <class Settings, class Member>
ValueOf<Settings> mode_value(Member member) {
  std::vector<std::pair<std::string, spmv::Mode>> names;
  for (const spmv::Mode mode : spmv::all_modes()) names.emplace_back(spmv::name(mode), mode);
  return Values<Settings>::template named<spmv::Mode>(member, names);
}

}  // namespace weft::library
