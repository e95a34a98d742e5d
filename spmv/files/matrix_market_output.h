#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"

namespace weft::spmv {

/// A text that is written item by item: those of rank 0, then those of rank 1, and so on; then,
/// where there are several runs, the items of the next one.
struct TextItems {
  std::string header;  // the same on every rank, written once
  std::int64_t count = 0;  // items of this rank in each run
  /// Appends an item of this rank, numbered on from run to run, to a text; called in ascending
  /// order, possibly twice from the first of a run.
  std::function<void(std::int64_t item, std::string& text)> append{};
  std::int64_t run_count = 1;  // the same on every rank
};

/// Writes a text file, gzip-compressed if `path` ends in ".gz"; the same bytes for any number of
/// ranks.
///
/// A plain file: every rank formats its items twice, first to compute their positions, then to
/// write them. A compressed one: rank 0 compresses the text that the ranks send one after another.
/// Everything goes to a temporary file in the same folder, which replaces `path` when it is
/// complete. Collective. Memory: a few MB. Throws comm_thread::InputError when the file cannot be
/// written.
void collective_write_text(const comm_thread::Communicator& communicator, const std::string& path,
                           const TextItems& items);

/// Throws comm_thread::InputError if `path` could not be written, before hours of work; an existing
/// file stays as it is, a new one is not left behind.
/// Collective.
void collective_check_writable(const comm_thread::Communicator& communicator,
                               const std::string& path);

}  // namespace weft::spmv
