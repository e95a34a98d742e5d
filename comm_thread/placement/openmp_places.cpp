#include "comm_thread/placement/openmp_places.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace weft::comm_thread {
namespace {

std::vector<unsigned> pus_of_place(int place) {
  std::vector<int> ids(static_cast<std::size_t>(std::max(0, omp_get_place_num_procs(place))));
  if (!ids.empty()) omp_get_place_proc_ids(place, ids.data());
  std::vector<unsigned> pus(ids.begin(), ids.end());
  std::ranges::sort(pus);
  return pus;
}

}  // namespace

OpenmpPlaces openmp_places() {
  OpenmpPlaces places;
  if (omp_get_proc_bind() == omp_proc_bind_false) return places;
  for (int place = 0; place < omp_get_num_places(); ++place)
    for (const unsigned pu : pus_of_place(place)) places.all.push_back(pu);
  std::ranges::sort(places.all);
  const auto repeated = std::ranges::unique(places.all);
  places.all.erase(repeated.begin(), repeated.end());
  if (const int current = omp_get_place_num(); current >= 0) places.current = pus_of_place(current);
  return places;
}

}  // namespace weft::comm_thread
