#include <dlfcn.h>
#include <isa-l.h>
#include <xxhash.h>
#include <zlib.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comm_thread/channels/openshmem_transport.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/hwloc_version.h"
#include "library/include/weft/weft.hpp"
#include "perfmodel/likwid_markers.h"
#include "solver/direct/cholmod_factor.h"
#include "spmv/formats/hdf5_file.h"
#include "spmv/order/graph_partition.h"

namespace weft {
inline namespace v0 {
namespace {

/// LIKWID is loaded when it is needed.
std::string likwid_version() {
  void* const library = dlopen(perfmodel::LikwidMarkers::usual_library, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "missing";
  dlclose(library);
  return perfmodel::LikwidMarkers::usual_library;
}

}  // namespace

std::string version() { return WEFT_VERSION; }

std::vector<Dependency> dependencies() {
  const auto triple = [](unsigned major, unsigned minor, unsigned patch) {
    return fmt::format("{}.{}.{}", major, minor, patch);
  };
  const std::string factor = solver::CholmodFactor::library_version();
  return {
      {"MPI", comm_thread::MpiSession::library_version(), "of the library", "messages"},
      {"OpenMP", std::to_string(_OPENMP), "of the compiler", "compute threads"},
      {"hwloc", comm_thread::hwloc_version(), "BSD-3-Clause", "cores and caches"},
      {"fmt", triple(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100), "MIT",
       "texts"},
      {"nlohmann-json",
       triple(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
              NLOHMANN_JSON_VERSION_PATCH),
       "MIT", "options and reports"},
      {"zlib", zlibVersion(), "Zlib", "compressed files, written"},
      {"ISA-L", triple(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION), "BSD-3-Clause",
       "compressed files and checksums, read"},
      {"xxHash",
       triple(XXH_VERSION_NUMBER / 10000, XXH_VERSION_NUMBER / 100 % 100, XXH_VERSION_NUMBER % 100),
       "BSD-2-Clause", "checksums of messages"},
      {"CHOLMOD", factor,
       factor.starts_with("missing") ? "Eigen: MPL-2.0" : "LGPL-2.1+, supernodal part GPL-2+",
       "preconditioners schwarz and multigrid"},
      {"METIS", spmv::graph_partitioner_version(), "Apache-2.0", "partition metis"},
      {"HDF5", spmv::hdf5_version(), "BSD-3-Clause", "files .h5"},
      {"OpenSHMEM", comm_thread::has_openshmem() ? "of the MPI library" : "missing",
       "of the library", "transport shmem"},
      {"LIKWID", likwid_version(), "GPL-3.0+, loaded by the program only", "hardware counters"},
  };
}

}  // namespace v0
}  // namespace weft
