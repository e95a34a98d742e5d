#pragma once

#include <string>

namespace weft::tools {

/// How long ranks wait for one that gives no sign of life, and what they do then.
///
/// Where tools/launch has started them, each rank tells it once a second that it is alive, from a
/// thread of its own, and the launcher ends the job when it has heard nothing from one of them for
/// so long. A rank that the launcher cannot reach, or that has no launcher, ends by itself when it
/// has waited for a message for so long.

constexpr double default_patience_seconds = 300;

/// Seconds; set by --give-up-after, the same on every rank.
double& patience_seconds();

/// Gives the launcher signs of life from now on, until the process ends. Thread: the main thread,
/// once, after MPI has been initialised.
void start_signs_of_life(int rank, int rank_count);

/// Called when this rank has waited for `seconds` without a message, `awaited`, first after
/// `first_seconds`: says so, and gives up when that is too long. Time in which the process was
/// stopped does not count. Thread: the one that waits.
void report_long_wait(int rank, const std::string& awaited, double seconds, double first_seconds);

}  // namespace weft::tools
