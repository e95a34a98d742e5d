#include "tools/system/solve_system.h"

#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/grid_operator_choice.h"
#include "library/solve/ordered_matrix.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/grid/rows_in_order.h"
#include "spmv/matrix/sparse_operator.h"
#include "tools/system/grid_right_hand_side.h"
#include "tools/system/linear_system.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/ordered_matrix.h"

namespace weft::tools {

SolveSystem::SolveSystem(Job& job, const SystemOptions& options, const spmv::Problem& problem,
                         const spmv::RightHandSide& right_hand_side, bool is_matrix_free)
    : grid_(problem.grid) {
  if (is_matrix_free && !options.triangle.empty())
    throw comm_thread::InputError("--triangle: found with --operator stencil; expected a matrix");
  if (is_matrix_free && !options.base.empty())
    throw comm_thread::InputError("--base: found with --operator stencil; expected a matrix");
  if (is_matrix_free)
    make_stencil(job, problem, right_hand_side);
  else
    load_matrix(job, options, problem, right_hand_side);
}

void SolveSystem::load_matrix(Job& job, SystemOptions options, const spmv::Problem& problem,
                              const spmv::RightHandSide& right_hand_side) {
  options.order = options.order_of(problem);
  auto loaded = collective_load_ordered_matrix(job, problem, options, MatrixUse::solve);
  ordering_ = ordering_report(loaded, options);
  order_ = std::move(loaded.order);
  order_choice_ = std::move(loaded.why);
  auto op =
      std::make_unique<spmv::SparseOperator>(job.comm_thread_world(), job.comm_thread(), job.team(),
                                             std::move(loaded.matrix), options.parsed_format());
  b_ = collective_build_right_hand_side(job, *op, problem, right_hand_side,
                                        order_ ? &*order_ : nullptr);
  nonzero_count_ = op->matrix().matrix().global_nonzero_count;
  boundary_row_count_ = job.world().sum(op->matrix().boundary_row_count());
  row_partition_ = &op->matrix().matrix().partition;
  operator_ = std::move(op);
}

double SolveSystem::collective_matrix_bytes(const Job& job) const {
  const spmv::SparseOperator* const op = matrix_operator();
  return op ? static_cast<double>(job.world().sum(op->matrix().matrix_bytes())) : grid_bytes_;
}

std::string SolveSystem::format_name() const {
  const spmv::SparseOperator* const op = matrix_operator();
  return op ? op->matrix().format_name() : grid_name_;
}

std::optional<spmv::StorageTimes> SolveSystem::storage_times() const {
  const spmv::SparseOperator* const op = matrix_operator();
  return op ? op->matrix().storage_times() : std::nullopt;
}

bool SolveSystem::has_undecided_storage() const {
  const spmv::SparseOperator* const op = matrix_operator();
  return op && op->matrix().is_undecided();
}

std::vector<double> SolveSystem::collective_read(const Job& job, const std::string& path) const {
  if (!order_) return spmv::collective_read_vector_file(job.world(), *row_partition_, path);
  return order_->collective_apply(
      spmv::collective_read_vector_file(job.world(), order_->given(), path));
}

spmv::GlobalIndex SolveSystem::collective_given_row(const Job& job, spmv::GlobalIndex row) const {
  return order_ ? library::collective_given_row(job.world(), *order_, row) : row;
}

void SolveSystem::collective_write(const Job& job, std::span<const double> vector,
                                   const std::string& path) const {
  if (order_)
    return collective_write_rows(job, order_->given(), order_->collective_undo(vector), path);
  if (row_partition_) return collective_write_rows(job, *row_partition_, vector, path);
  const auto rows = spmv::RowPartition::by_rows(operator_->global_row_count(), job.world().size());
  collective_write_rows(
      job, rows, spmv::collective_rows_in_order(job.world(), *operator_, vector, rows), path);
}

void SolveSystem::collective_write_rows(const Job& job, const spmv::RowPartition& rows,
                                        std::span<const double> own,
                                        const std::string& path) const {
  if (spmv::is_vtk_file(path))
    spmv::collective_write_vtk_image(job.world(), rows, own, {grid_.x, grid_.y, grid_.z}, path);
  else
    spmv::collective_write_vector_file(job.world(), rows, own, path);
}

void SolveSystem::make_stencil(Job& job, const spmv::Problem& problem,
                               const spmv::RightHandSide& right_hand_side) {
  const SystemSize size = collective_system_size(job, problem, {}, true);
  MemoryForecast forecast = forecast_operator(job, size, {}, true);
  add_vectors(job, size, 2, 0, 0, forecast);
  collective_check_memory(job, problem.name(), forecast);
  auto op = library::collective_make_grid_operator(job.comm_thread_world(), job.comm_thread(),
                                                   job.team(), problem);
  b_ = collective_build_grid_right_hand_side(job, *op, problem, right_hand_side);
  nonzero_count_ = op->nonzero_count();
  grid_bytes_ = static_cast<double>(job.world().sum(op->stored_bytes()));
  grid_name_ = op->format_name();
  boundary_row_count_ = job.world().sum(op->boundary_row_count());
  operator_ = std::move(op);
}

}  // namespace weft::tools
