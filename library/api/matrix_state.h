#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "comm_thread/engine/crew.h"
#include "comm_thread/mpi/communicator.h"
#include "library/api/job_state.h"
#include "library/include/weft/weft.hpp"
#include "library/options/solve_settings.h"
#include "library/state/caller_matrix.h"
#include "library/system/linear_system.h"
#include "library/system/operator_products.h"

namespace weft {
inline namespace v0 {

/// What a weft::Matrix is a handle of. Members are destroyed in the reverse of their order.
struct Matrix::State {
  State(std::shared_ptr<Job::State> of_job, library::SolveSettings wanted);

  /// The ranks, in the message space of this matrix, and the threads of the job.
  comm_thread::Crew crew() const { return {space, job->job->comm_thread(), job->job->team()}; }
  /// Why nobody should solve with the matrix as it is; empty: no reason.
  const std::string& half() const { return system->half(); }

  std::shared_ptr<Job::State> job;
  comm_thread::Communicator space;  // messages of this matrix alone
  library::SolveSettings settings;  // operator, format, order and partition of it
  std::unique_ptr<library::CallerMatrix> caller_matrix;
  std::unique_ptr<library::LinearSystem> system;
  std::unique_ptr<library::OperatorProducts> products;  // once there was one
  std::uint64_t values_version = 0;  // counts updates
  std::uint64_t places_version = 0;  // counts those after which other places have entries
};

}  // namespace v0
}  // namespace weft
