#pragma once

#include "comm_thread/mpi/communicator.h"
#include "library/options/eigen_settings.h"
#include "library/system/memory_forecast.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What a search for eigenvalues has besides its settings.
struct SearchUse {
  bool keeps_checkpoints = false;
  bool counts_certificate = false;  // on this rank, at most: what it takes depends on the search
};

/// Memory of a rank for a search: the matrix, that of --mass, the preconditioner and the vectors.
/// Collective. Throws comm_thread::InputError where a file cannot be read.
MemoryForecast collective_forecast_search(const comm_thread::Communicator& communicator,
                                          const spmv::Problem& problem,
                                          const EigenSettings& settings, const SearchUse& use);

}  // namespace weft::library
