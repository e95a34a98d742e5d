#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::comm_thread {

/// Numbers as a short list, such as "0-7,16".
std::string format_list(std::span<const unsigned> numbers);

/// The numbers of such a list, ascending, each once; empty where it is none.
std::vector<unsigned> parse_list(std::string_view list);

/// "1 core", "2 cores". `thing`: its singular.
std::string counted(std::size_t count, const std::string& thing);

}  // namespace weft::comm_thread
