#pragma once

#include <CLI/CLI.hpp>

namespace weft::tools {

/// Throws comm_thread::InputError where a file that `command` would write is one that it reads, or
/// another one that it writes, under whatever names: also through links. A name in an HDF5 file
/// counts as the whole file. --checkpoint may write the file of --restart-from.
void check_files_differ(const CLI::App& command);

}  // namespace weft::tools
