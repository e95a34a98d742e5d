#include "tools/system/solve_system.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/grid_operator_choice.h"
#include "library/solve/ordered_matrix.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/grid/rows_in_order.h"
#include "spmv/matrix/sparse_operator.h"
#include "tools/system/linear_system.h"
#include "tools/system/memory_forecast.h"

namespace weft::tools {

SolveSystem::SolveSystem(Job& job, const library::MatrixSettings& options,
                         const spmv::Problem& problem, const spmv::RightHandSide& right_hand_side,
                         bool is_matrix_free, std::int64_t most_columns)
    : grid_(problem.grid) {
  if (is_matrix_free && !options.triangle.empty())
    throw comm_thread::InputError("--triangle: found with --operator stencil; expected a matrix");
  if (is_matrix_free && !options.base.empty())
    throw comm_thread::InputError("--base: found with --operator stencil; expected a matrix");
  if (is_matrix_free)
    make_stencil(job, problem, right_hand_side);
  else
    load_matrix(job, options, problem, right_hand_side, most_columns);
}

void SolveSystem::load_matrix(Job& job, library::MatrixSettings options,
                              const spmv::Problem& problem,
                              const spmv::RightHandSide& right_hand_side,
                              std::int64_t most_columns) {
  options.order = options.order_of(problem);
  auto loaded = collective_load_ordered_matrix(job, problem, options, MatrixUse::solve);
  ordering_ = ordering_report(loaded, options);
  order_ = std::move(loaded.order);
  order_choice_ = std::move(loaded.why);
  auto op =
      std::make_unique<spmv::SparseOperator>(job.comm_thread_world(), job.comm_thread(), job.team(),
                                             std::move(loaded.matrix), options.parsed_format());
  nonzero_count_ = op->matrix().matrix().global_nonzero_count;
  boundary_row_count_ = job.world().sum(op->matrix().boundary_row_count());
  row_partition_ = &op->matrix().matrix().partition;
  b_ = collective_build_right_hand_sides(job, *op, problem, right_hand_side, &given(), order(),
                                         most_columns);
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
  std::vector<double> read;
  collective_read_vectors(job, given(), order(), path, 1, [&](std::span<const double> vector) {
    read.assign(vector.begin(), vector.end());
  });
  return read;
}

std::vector<std::vector<double>> SolveSystem::collective_read_columns(
    const Job& job, const std::string& path) const {
  std::vector<std::vector<double>> read;
  collective_read_vectors(
      job, given(), order(), path, std::ssize(b_),
      [&](std::span<const double> vector) { read.emplace_back(vector.begin(), vector.end()); });
  if (read.size() != b_.size())
    throw comm_thread::InputError(path + ": found " + std::to_string(read.size()) +
                                  " column; expected " + std::to_string(b_.size()) +
                                  ", one for each right-hand side");
  return read;
}

spmv::GlobalIndex SolveSystem::collective_given_row(const Job& job, spmv::GlobalIndex row) const {
  return order_ ? library::collective_given_row(job.world(), *order_, row) : row;
}

void SolveSystem::collective_write(const Job& job,
                                   const std::vector<std::span<const double>>& vectors,
                                   const std::string& path) const {
  const auto rows = row_partition_ ? given()
                                   : spmv::RowPartition::by_rows(operator_->global_row_count(),
                                                                 job.world().size());
  const std::size_t count = vectors.size();
  const auto write = [&](std::span<const double> own) {
    if (spmv::is_vtk_file(path))
      spmv::collective_write_vtk_image(job.world(), rows, own, {grid_.x, grid_.y, grid_.z}, path);
    else
      spmv::collective_write_columns_file(job.world(), rows, own, static_cast<std::int64_t>(count),
                                          path);
  };
  if (count == 1 && row_partition_ && !order_) return write(vectors.front());
  std::vector<double> own(static_cast<std::size_t>(rows.size(job.world().rank())) * count);
  for (std::size_t c = 0; c < count; ++c) {
    const auto in_order = [&](std::span<const double> vector) {
      for (std::size_t row = 0; row < vector.size(); ++row) own[row * count + c] = vector[row];
    };
    if (order_)
      in_order(order_->collective_undo(vectors[c]));
    else if (row_partition_)
      in_order(vectors[c]);
    else
      in_order(spmv::collective_rows_in_order(job.world(), *operator_, vectors[c], rows));
  }
  write(own);
}

void SolveSystem::make_stencil(Job& job, const spmv::Problem& problem,
                               const spmv::RightHandSide& right_hand_side) {
  const SystemSize size = collective_system_size(job, problem, {}, true);
  MemoryForecast forecast = forecast_operator(job, size, {}, true);
  add_vectors(job, size, 2, 0, 0, forecast);
  collective_check_memory(job, problem.name(), forecast);
  auto op = library::collective_make_grid_operator(job.comm_thread_world(), job.comm_thread(),
                                                   job.team(), problem);
  b_ = collective_build_right_hand_sides(job, *op, problem, right_hand_side, nullptr, nullptr, 1);
  nonzero_count_ = op->nonzero_count();
  grid_bytes_ = static_cast<double>(job.world().sum(op->stored_bytes()));
  grid_name_ = op->format_name();
  boundary_row_count_ = job.world().sum(op->boundary_row_count());
  operator_ = std::move(op);
}

}  // namespace weft::tools
