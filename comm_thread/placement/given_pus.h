#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/launcher_check.h"
#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/launcher_mask.h"
#include "comm_thread/placement/node_ranks.h"
#include "comm_thread/placement/openmp_places.h"

namespace weft::comm_thread {

/// What is known about the PUs of this process when a job begins. Sets are ascending.
struct PuFacts {
  std::vector<unsigned> permitted;  // to which it may bind itself
  std::vector<unsigned> bound;  // on which the calling thread may run; empty: not known
  OpenmpPlaces places;
  Variable variable;  // the environment; may be empty
  /// Finds the launcher of a process that was started with these PUs; may be empty.
  std::function<LauncherMask(std::span<const unsigned> own)> find_launcher;
  bool pins = true;  // the job will bind its threads
  bool pins_beyond_mask = false;
};

/// The PUs that this process was given for its threads.
struct GivenPus {
  std::vector<unsigned> home;
  /// Those that it may take besides where they are too few.
  std::vector<unsigned> reach;
  MaskOwner owner;  // of the mask, if there is one
  std::vector<PlacementFinding> findings;
};

/// Tells what the process was given from what was narrowed in it since.
///
/// The OpenMP runtime binds the main thread to one of its places when it is loaded, and the library
/// that likwid-pin preloads does so when a thread is made: that is undone, because both tell which
/// PUs all threads were meant to have. A mask of taskset or of a job is never left, but with
/// `pins_beyond_mask`. A binding by a launcher may be widened to what the launcher itself has,
/// unless places were named that are fewer. A pure function of its facts.
GivenPus given_pus(const PuFacts& facts);

}  // namespace weft::comm_thread
