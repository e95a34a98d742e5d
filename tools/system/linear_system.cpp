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
#include "tools/job/remarks.h"

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
                                          const SystemOptions& options) {
  const SystemSize size = collective_system_size(job, problem, options);
  MemoryForecast forecast = forecast_operator(job, size, options, false);
  add_vectors(job, size, 2, 1, 0, forecast);
  return forecast;
}

spmv::DistributedMatrix collective_load_matrix(const Job& job, const spmv::Problem& problem,
                                               const SystemOptions& options, MatrixUse use) {
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

HugePageBuffer<double> collective_build_right_hand_side(Job& job, spmv::SparseOperator& op,
                                                        const spmv::Problem& problem,
                                                        const spmv::RightHandSide& right_hand_side,
                                                        const spmv::RowOrder* order) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const spmv::RowPartition& given = order ? order->given() : matrix.partition;
  auto b = make_vector(job, op.matrix());
  if (right_hand_side.kind != RightHandSideKind::file && !order) {
    spmv::fill(right_hand_side, problem, given, matrix.rank, job.team(), b.span());
  } else {
    std::vector<double> own(static_cast<std::size_t>(given.size(matrix.rank)));
    if (right_hand_side.kind == RightHandSideKind::file) {
      spmv::Remarks remarks;
      own = spmv::collective_read_vector_file(job.world(), given, right_hand_side.path, remarks);
      print_remarks(job, remarks);
    } else
      spmv::fill(right_hand_side, problem, given, matrix.rank, job.team(), own);
    if (order) own = order->collective_apply(own);
    std::copy(own.begin(), own.end(), b.data());
  }
  if (right_hand_side.kind == RightHandSideKind::x_random)
    collective_multiply_in_place(job, op, b.span());
  return b;
}

}  // namespace weft::tools
