#include "tools/system/linear_system.h"

#include <algorithm>
#include <string>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/entries/file_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/problems/generator.h"
#include "tools/job/printed_remarks.h"

namespace weft::tools {
namespace {

using comm_thread::TeamThread;
using perfmodel::HugePageBuffer;
using spmv::RightHandSideKind;

/// Zeros, each page touched by the thread that owns its rows.
HugePageBuffer<double> make_vector(const Job& job, const spmv::SplitMatrix& matrix) {
  HugePageBuffer<double> vector(static_cast<std::size_t>(matrix.row_count()));
  job.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::fill(vector.data() + matrix.thread_rows()[index],
              vector.data() + matrix.thread_rows()[index + 1], 0.0);
  });
  return vector;
}

/// b = A·x*, x* in b on entry.
void collective_multiply_in_place(Job& job, spmv::SparseOperator& op, std::span<double> b) {
  const auto x = op.collective_make_vector();
  std::copy(b.begin(), b.end(), x->own().begin());
  perfmodel::PhaseTimer timer;
  job.team().run(
      [&](const TeamThread& thread) { op.multiply(thread, spmv::Mode::task, *x, b, timer); });
}

}  // namespace

MemoryForecast collective_forecast_matrix(const Job& job, const spmv::Problem& problem,
                                          const library::MatrixSettings& options) {
  const SystemSize size = collective_system_size(job, problem, options);
  MemoryForecast forecast = forecast_operator(job, size, options, false);
  add_vectors(job, size, 2, 1, 0, forecast);
  return forecast;
}

spmv::DistributedMatrix collective_load_matrix(const Job& job, const spmv::Problem& problem,
                                               const library::MatrixSettings& options,
                                               MatrixUse use) {
  if (!options.triangle.empty() && !problem.is_file())
    throw comm_thread::InputError("--triangle: found with the generated problem " + problem.name() +
                                  "; expected a matrix from a file");
  if (!options.base.empty() && !problem.is_file())
    throw comm_thread::InputError("--base: found with the generated problem " + problem.name() +
                                  "; expected a matrix from a file");
  collective_check_memory(job, problem.name(), collective_forecast_matrix(job, problem, options));
  const auto partition_by = options.parsed_partition();
  if (!problem.is_file())
    return spmv::collective_generate(job.world(), job.team(), problem, partition_by);
  spmv::Remarks remarks;
  auto matrix =
      spmv::collective_read_matrix_file(job.world(), job.team(), problem.path, partition_by,
                                        remarks, spmv::parse_index_base(options.base));
  const std::string half = spmv::collective_settle_entries(job.world(), job.team(), problem.path,
                                                           spmv::parse_triangle(options.triangle),
                                                           use == MatrixUse::file, matrix, remarks);
  if (!half.empty()) {
    if (use == MatrixUse::solve) throw comm_thread::InputError(half);
    remarks.push_back(half);
  }
  print_remarks(job, remarks);
  return matrix;
}

std::int64_t collective_count_right_hand_sides(const Job& job, const spmv::Problem& problem,
                                               const spmv::RightHandSide& right_hand_side) {
  if (right_hand_side.kind != RightHandSideKind::file) return 1;
  return spmv::collective_count_columns(job.world(), right_hand_side.path, [&] {
    return problem.is_file()
               ? spmv::collective_matrix_file_size(job.world(), problem.path).row_count
               : problem.row_count();
  });
}

void collective_read_vectors(const Job& job, const spmv::RowPartition& given,
                             const spmv::RowOrder* order, const std::string& path,
                             std::int64_t most,
                             const std::function<void(std::span<const double> vector)>& take) {
  spmv::Remarks remarks;
  const spmv::FileColumns columns =
      spmv::collective_read_columns_file(job.world(), given, path, most, remarks);
  print_remarks(job, remarks);
  const auto count = static_cast<std::size_t>(columns.count);
  std::vector<double> column(columns.own.size() / count);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t row = 0; row < column.size(); ++row)
      column[row] = columns.own[row * count + c];
    if (order)
      take(order->collective_apply(column));
    else
      take(column);
  }
}

std::vector<HugePageBuffer<double>> collective_build_right_hand_sides(
    Job& job, spmv::SparseOperator& op, const spmv::Problem& problem,
    const spmv::RightHandSide& right_hand_side, const spmv::RowOrder* order, std::int64_t most) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const spmv::RowPartition& given = order ? order->given() : matrix.partition;
  std::vector<HugePageBuffer<double>> vectors;
  if (right_hand_side.kind == RightHandSideKind::file) {
    collective_read_vectors(job, given, order, right_hand_side.path, most,
                            [&](std::span<const double> vector) {
                              vectors.push_back(make_vector(job, op.matrix()));
                              std::ranges::copy(vector, vectors.back().data());
                            });
    return vectors;
  }
  vectors.push_back(make_vector(job, op.matrix()));
  const std::span<double> b = vectors.back().span();
  if (order) {
    std::vector<double> own(static_cast<std::size_t>(given.size(matrix.rank)));
    spmv::fill(right_hand_side, problem, given, matrix.rank, job.team(), own);
    std::ranges::copy(order->collective_apply(own), b.begin());
  } else {
    spmv::fill(right_hand_side, problem, given, matrix.rank, job.team(), b);
  }
  if (right_hand_side.kind == RightHandSideKind::x_random) collective_multiply_in_place(job, op, b);
  return vectors;
}

}  // namespace weft::tools
