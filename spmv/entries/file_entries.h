#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Makes of a matrix as the file `path` has it the one that is meant: mirrors it where `triangle`
/// says so, and leaves out explicit zeros off the diagonal, where it mirrors or unless they are
/// kept.
///
/// Returns "FILE: found entries … only; expected …" for a matrix that has entries on one side of
/// the diagonal and of which `triangle` says nothing: nobody should solve with it. Else nothing.
/// `remarks`: gets what was left out or decided. Collective. Thread: the main thread, outside the
/// team. Throws comm_thread::InputError on every rank.
std::string collective_settle_entries(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team, const std::string& path,
                                      Triangle triangle, bool keeps_zeros,
                                      DistributedMatrix& matrix, Remarks& remarks);

}  // namespace weft::spmv
