#include "perfmodel/mode_model.h"

#include <algorithm>

namespace weft::perfmodel {

double halo_seconds(double message_count, double bytes, double latency_seconds,
                    double bytes_per_second) {
  return message_count > 0 ? message_count * latency_seconds + bytes / bytes_per_second : 0;
}

double sequential_seconds(const ModeCosts& costs) {
  return costs.pack + costs.halo + costs.product;
}

double overlapped_seconds(const ModeCosts& costs) {
  return costs.pack + std::max(costs.interior + costs.carrying, costs.halo) + costs.boundary;
}

}  // namespace weft::perfmodel
