#pragma once

#include <string>
#include <vector>

namespace weft::spmv {

/// What a reader has dropped, decided or left unread: one sentence each, "FILE: …", without a line
/// end; the same on every rank. Readers append to it; only the program prints.
using Remarks = std::vector<std::string>;

}  // namespace weft::spmv
