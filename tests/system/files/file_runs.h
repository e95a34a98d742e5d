#pragma once

#include <string>
#include <vector>

#include "tests/system/program_run.h"

namespace weft::tests {

/// One rank and three, in turn.
int next_ranks();

/// Runs `weft convert`, which has to succeed.
void convert(int ranks, const std::string& from, const std::string& to);

/// Checks that a run has ended with exit code 2 and one line: the fault, and what was expected.
void check_refused(const ProgramResult& result, const std::string& fault);

/// The same for a run on `next_ranks()`.
void check_refused(const std::vector<std::string>& arguments, const std::string& fault);

}  // namespace weft::tests
