#pragma once

#include <span>
#include <vector>

#include "solver/eigen/eigen_report.h"

namespace weft::solver {

/// Enters the pairs that a search has, from the end of the spectrum inwards: the first `count` are
/// those that are wanted. Of a search that was stopped only those of these are reported whose
/// residual is at most `limit`, and all others come next. Returns the numbers of the pairs in the
/// order of the report.
std::vector<int> report_pairs(std::span<const EigenPair> pairs, int count, double limit,
                              EigenReport& report);

}  // namespace weft::solver
