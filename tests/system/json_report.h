#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tests/system/program_run.h"

namespace weft::tests {

/// The report of a run with `--json -`. When standard output is not JSON and nothing else, the
/// running test case fails and the report is empty.
nlohmann::json report_of(const ProgramResult& result);

/// Fields of a report of `weft solve` that are missing or have the wrong type, one line each; empty
/// if there are none.
std::string faults_of_solve_report(const nlohmann::json& report);

/// Short enough to be shown, different when the text is.
std::string fingerprint(const std::string& text);

}  // namespace weft::tests
