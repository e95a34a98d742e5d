#pragma once

#include <string>

namespace weft::tools {

/// Writes a record for tools/launch, which asks for records by WEFT_LAUNCHER and does not show
/// them; nothing elsewhere. In one piece.
///
///     rank RANK PID HOST    who is which rank
///     exit CODE             all ranks agreed on it
///     orderly               the ranks end by themselves after a signal: they may take their time
void tell_launcher(const std::string& record);

}  // namespace weft::tools
