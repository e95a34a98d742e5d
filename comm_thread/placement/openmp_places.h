#pragma once

#include <vector>

namespace weft::comm_thread {

/// The places to which the OpenMP runtime binds its threads; none where it binds nothing.
struct OpenmpPlaces {
  std::vector<unsigned> all;  // PUs of all places, ascending
  std::vector<unsigned> current;  // those of the calling thread's place
};

/// Asks the OpenMP runtime, which may thereby bind the calling thread to a place.
OpenmpPlaces openmp_places();

}  // namespace weft::comm_thread
