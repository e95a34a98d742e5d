#pragma once

#include <string>

namespace weft::tools {

/// Writes a record for tools/launch, which asks for records by WEFT_LAUNCHER and does not show
/// them; nothing elsewhere. In one piece.
///
///     rank RANK PID HOST    who is which rank
///     exit CODE             all ranks agreed on it
///     orderly               the ranks end by themselves after a signal: they may take their time
///     patience SECONDS      a rank that gives no sign of life for so long is lost
///     alive RANK            a sign of life, once a second or so
///     gave-up RANK          this rank has waited too long, has said so, and ends the job
void tell_launcher(const std::string& record);

/// The same where it does not block, and nothing where the pipe is full. Thread: any.
void tell_launcher_if_possible(const std::string& record);

/// The name of this host, as in its records. Thread: any.
std::string host_name();

/// True if there is a launcher that asks for records.
bool has_launcher();

}  // namespace weft::tools
