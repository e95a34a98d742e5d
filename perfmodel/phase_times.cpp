#include "perfmodel/phase_times.h"

#include <numeric>

namespace weft::perfmodel {

const char* name(Phase phase) {
  constexpr std::array names{"pack",          "local_part", "halo_wait",
                             "boundary_part", "reduction",  "vector_update"};
  return names[static_cast<std::size_t>(phase)];
}

double PhaseTimes::total() const { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }

}  // namespace weft::perfmodel
