#include "solver/eigen/reported_pairs.h"

#include <cstddef>

namespace weft::solver {

std::vector<int> report_pairs(std::span<const EigenPair> pairs, int count, double limit,
                              EigenReport& report) {
  const bool is_stopped = report.status == SolveStatus::stopped;
  std::vector<int> order;
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(pairs.size()); ++i) {
    const EigenPair& pair = pairs[static_cast<std::size_t>(i)];
    const bool is_reported = i < count && (!is_stopped || pair.residual <= limit);
    (is_reported ? order : others).push_back(i);
    (is_reported ? report.pairs : report.next).push_back(pair);
  }
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

}  // namespace weft::solver
