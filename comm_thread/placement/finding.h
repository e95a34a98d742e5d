#pragma once

#include <span>
#include <string>

namespace weft::comm_thread {

enum class FindingSeverity {
  note,  ///< worth knowing
  repaired,  ///< was wrong, has been fixed
  warning,  ///< is wrong or slow and stays so
  refused,  ///< cannot be satisfied: do not run
};

/// Message for the user about the placement of threads. A finding that concerns several ranks has
/// the same text on each of them, so that it can be shown once.
struct PlacementFinding {
  FindingSeverity severity = FindingSeverity::note;
  std::string text;
  bool operator==(const PlacementFinding&) const = default;
};

/// True if a finding says that the program must not run.
bool is_refused(std::span<const PlacementFinding> findings);

/// "note", "repaired", "warning", "refused".
std::string to_string(FindingSeverity severity);

}  // namespace weft::comm_thread
