#pragma once

#include <cstdint>
#include <optional>

namespace weft::solver {

/// When levels move to fewer ranks, and what that was chosen from. No bit depends on it.
struct Gathering {
  /// Rows of a rank, or, of a grid, its points in a direction that is cut, below which a level
  /// moves to fewer ranks.
  std::int64_t least_rows = 0;
  bool is_chosen = false;  // by a model, else given
  /// Of an exchange, on the slowest rank; nothing where no choice depended on it.
  std::optional<double> latency_seconds{};
  double bytes_per_second = 0;  // beyond that, if measured
  double modelled_seconds = 0;  // of a cycle on all levels but the finest, if modelled
};

}  // namespace weft::solver
