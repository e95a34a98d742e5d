#pragma once

#include <string>

namespace weft::tools {

/// What is wrong with the input that each rank reads for itself (its arguments, the file of
/// --config, the headers of other files) on the first rank where something is, on every rank; empty
/// where every rank's input is good.
///
/// Another command or other options than those of rank 0 are a fault, too (`command_in_effect`,
/// `options_in_effect`): the ranks would wait for each other without end.
///
/// Every rank calls it once before it communicates otherwise; a later call returns `fault`.
/// `fault`: this rank's, empty where there is none. Names the rank unless all have a fault.
/// Collective. Thread: the main thread. Lifetime: inside an MpiSession.
std::string collective_agreed_fault(const std::string& fault);

}  // namespace weft::tools
