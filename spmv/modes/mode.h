#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::spmv {

/// How an operator communicates. vector: exchange, then multiply. overlap: start the exchange,
/// multiply the interior, wait in MPI. overlap_test: the same, with a test of the exchange now and
/// then meanwhile. task: the communication thread exchanges meanwhile.
enum class Mode { vector, overlap, overlap_test, task };

const char* name(Mode mode);
std::optional<Mode> parse_mode(std::string_view text);
/// Of all modes, in the order above.
std::vector<std::string> mode_names();
std::vector<Mode> all_modes();

}  // namespace weft::spmv
