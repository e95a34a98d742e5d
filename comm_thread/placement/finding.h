#pragma once

#include <span>
#include <string>

namespace weft::comm_thread {

enum class FindingSeverity {
  note,  ///< worth knowing
  repaired,  ///< was wrong, has been put right
  warning,  ///< is wrong or slow and stays so
  refused,  ///< the request cannot be met: do not run
};

/// One line for the user about where threads are. What concerns several ranks has the same text on
/// each of them, so that equal lines may be shown once.
struct PlacementFinding {
  FindingSeverity severity = FindingSeverity::note;
  std::string text;
  bool operator==(const PlacementFinding&) const = default;
};

/// True when a finding says that the program must not run so.
bool is_refused(std::span<const PlacementFinding> findings);

/// "note", "repaired", "warning", "refused".
std::string to_string(FindingSeverity severity);

}  // namespace weft::comm_thread
