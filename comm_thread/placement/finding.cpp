#include "comm_thread/placement/finding.h"

#include <algorithm>

namespace weft::comm_thread {

bool is_refused(std::span<const PlacementFinding> findings) {
  return std::ranges::find(findings, FindingSeverity::refused, &PlacementFinding::severity) !=
         findings.end();
}

std::string to_string(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::note:
      return "note";
    case FindingSeverity::repaired:
      return "repaired";
    case FindingSeverity::warning:
      return "warning";
    case FindingSeverity::refused:
      return "refused";
  }
  return "unknown";
}

}  // namespace weft::comm_thread
