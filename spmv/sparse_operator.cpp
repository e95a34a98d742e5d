#include "spmv/sparse_operator.h"

#include <utility>

#include "spmv/overlap_mode.h"
#include "spmv/task_mode.h"
#include "spmv/vector_mode.h"

namespace weft::spmv {

SparseOperator::SparseOperator(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread,
                               const comm_thread::ComputeTeam& team, DistributedMatrix matrix,
                               MatrixFormat format)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      halo_plan_(collective_build_halo_plan(communicator, matrix)),
      matrix_(std::make_shared<const SplitMatrix>(std::move(matrix), team, format)) {}

SparseOperator::SparseOperator(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread,
                               const comm_thread::ComputeTeam& team, HaloPlan halo_plan,
                               std::shared_ptr<const SplitMatrix> matrix)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      halo_plan_(std::move(halo_plan)),
      matrix_(std::move(matrix)) {}

SparseOperator SparseOperator::diagonal_block(const comm_thread::Communicator& alone) const {
  HaloPlan nobody;
  nobody.halo_count = halo_plan_.halo_count;
  return SparseOperator(alone, comm_thread_, team_, std::move(nobody), matrix_);
}

std::unique_ptr<HaloVector> SparseOperator::collective_make_vector() {
  auto vector = std::make_unique<HaloVector>(communicator_, halo_plan_, matrix_->thread_rows(),
                                             team_, vectors_made_++);
  communicator_.barrier();  // both ends of every pair exist
  return vector;
}

void SparseOperator::multiply(const comm_thread::TeamThread& thread, Mode mode, HaloVector& x,
                              std::span<double> y, perfmodel::PhaseTimer& timer,
                              comm_thread::ExactAccumulator* x_dot_y) const {
  const Multiplication product{*matrix_, comm_thread_, x, y, timer, x_dot_y};
  switch (mode) {
    case Mode::vector:
      return multiply_in_vector_mode(thread, product);
    case Mode::overlap:
      return multiply_in_overlap_mode(thread, product);
    case Mode::task:
      return multiply_in_task_mode(thread, product);
  }
}

}  // namespace weft::spmv
