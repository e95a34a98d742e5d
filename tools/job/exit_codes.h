#pragma once

namespace weft::tools {

// Exit codes of the program besides 0; docs/reference/commands.md lists them.
constexpr int exit_code_bits_differ = 1;
constexpr int exit_code_bad_input = 2;
constexpr int exit_code_not_converged = 3;
constexpr int exit_code_below_requirement = 4;
constexpr int exit_code_out_of_time = 6;
constexpr int exit_code_of_signal = 128;  // and its number, after a checkpoint
// 5: a rank was lost, and 128 + N: signal N ended the job; both are tools/launch's, too.

}  // namespace weft::tools
