#pragma once

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tests {

/// The MPI session of the running test program; it lives until the last test has ended.
comm_thread::MpiSession& session();

}  // namespace weft::tests
