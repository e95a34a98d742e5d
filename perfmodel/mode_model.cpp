#include "perfmodel/mode_model.h"

#include <algorithm>

namespace weft::perfmodel {

double halo_seconds(double message_count, double bytes, double latency_seconds,
                    double bytes_per_second) {
  return message_count > 0 ? message_count * latency_seconds + bytes / bytes_per_second : 0;
}

ModeTimes predict_modes(const ModeCosts& costs) {
  const double waiting = costs.pack + costs.halo + costs.product;
  const double hiding =
      costs.pack + std::max(costs.interior + costs.carrying, costs.halo) + costs.boundary;
  return {.vector = waiting,
          .overlap = waiting,
          .overlap_test = hiding,
          .task = hiding + costs.handover};
}

}  // namespace weft::perfmodel
