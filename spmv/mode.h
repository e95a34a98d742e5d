#pragma once

#include <optional>
#include <string_view>

namespace weft::spmv {

/// How an operator communicates. vector: exchange, then multiply. overlap: start the exchange,
/// multiply the interior, wait in MPI. task: the communication thread exchanges meanwhile.
enum class Mode { vector, overlap, task };

const char* name(Mode mode);
std::optional<Mode> parse_mode(std::string_view text);

}  // namespace weft::spmv
