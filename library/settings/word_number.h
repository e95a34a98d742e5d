#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::library {

/// The whole number that `digits` are, `least` and `most` included.
/// Thread: any. Throws comm_thread::InputError, which names `item`, where they are no such number.
std::int64_t whole_number(const std::string& item, std::string_view digits, std::int64_t least,
                          std::int64_t most);

/// The number from 0 to 1 that `digits` are. Thread: any. Throws as whole_number does.
double share(const std::string& item, std::string_view digits);

}  // namespace weft::library
