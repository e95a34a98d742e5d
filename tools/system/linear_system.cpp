#include "tools/system/linear_system.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

/// A vector of the operator. `make` makes the elements of a segment, on the thread that will use
/// them.
template <class Make>
HugePageBuffer<double> make_vector(const spmv::LinearOperator& op, const Make& make) {
  HugePageBuffer<double> vector(op.element_count());
  op.team().run([&](const TeamThread& thread) {
    for (const spmv::Segment& segment : op.segments(thread.index))
      make(segment, vector.span().subspan(segment.begin, static_cast<std::size_t>(segment.count)));
  });
  return vector;
}

HugePageBuffer<double> copy_of(const spmv::LinearOperator& op, std::span<const double> vector) {
  return make_vector(op, [&](const spmv::Segment& segment, std::span<double> part) {
    std::copy_n(vector.data() + segment.begin, part.size(), part.data());
  });
}

/// b = A·x*, x* in b on entry.
void collective_multiply_in_place(spmv::LinearOperator& op, std::span<double> b) {
  const auto x = op.collective_make_operand();
  std::copy(b.begin(), b.end(), x->values());
  perfmodel::PhaseTimer timer;
  op.team().run([&](const TeamThread& thread) {
    op.apply(thread, spmv::Mode::task, *x, b.data(), timer, {});
  });
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
    const Job& job, spmv::LinearOperator& op, const spmv::Problem& problem,
    const spmv::RightHandSide& right_hand_side, const spmv::RowPartition* given,
    const spmv::RowOrder* order, std::int64_t most) {
  std::vector<HugePageBuffer<double>> vectors;
  if (right_hand_side.kind == RightHandSideKind::file) {
    if (!given)
      throw comm_thread::InputError(
          "--rhs: found the file " + right_hand_side.path +
          " with --operator stencil; expected a generated right-hand side, or --operator matrix");
    collective_read_vectors(
        job, *given, order, right_hand_side.path, most,
        [&](std::span<const double> vector) { vectors.push_back(copy_of(op, vector)); });
    return vectors;
  }
  if (order) {
    const int rank = job.world().rank();
    std::vector<double> own(static_cast<std::size_t>(given->size(rank)));
    spmv::fill(right_hand_side, problem, *given, rank, job.team(), own);
    vectors.push_back(copy_of(op, order->collective_apply(own)));
  } else {
    vectors.push_back(make_vector(op, [&](const spmv::Segment& segment, std::span<double> part) {
      fill_rows(right_hand_side, problem, op.global_row(segment.begin), part);
    }));
  }
  if (right_hand_side.kind == RightHandSideKind::x_random)
    collective_multiply_in_place(op, vectors.back().span());
  return vectors;
}

library::OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                                      const library::MatrixSettings& options,
                                                      MatrixUse use) {
  auto given = collective_load_matrix(job, problem, options, use);
  try {
    return library::collective_order_matrix(job.world(), job.team(), std::move(given),
                                            options.order, options.partition);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

Json ordering_report(const library::OrderedMatrix& ordered,
                     const library::MatrixSettings& options) {
  if (!ordered.order) return nullptr;
  const library::OrderingGains& gains = ordered.gains;
  return {{"order", ordered.has_cuthill_mckee ? "rcm" : "given"},
          {"partition", options.partition},
          {"bandwidth_given", gains.bandwidth_given},
          {"bandwidth", gains.bandwidth},
          {"halo_bytes_given", gains.halo_bytes_given},
          {"halo_bytes", gains.halo_bytes},
          {"seconds", gains.seconds}};
}

void print_ordering(const Json& report) {
  if (report.is_null()) return;
  const auto count = [&](const char* field) { return report[field].get<std::int64_t>(); };
  const auto kilobytes = [&](const char* field) {
    return 1e-3 * static_cast<double>(count(field));
  };
  fmt::print(
      "order        {}, partition {}: bandwidth {} -> {}, halo {:.1f} -> {:.1f} kB a product, "
      "in {:.3f} s\n",
      report["order"].get<std::string>(), report["partition"].get<std::string>(),
      count("bandwidth_given"), count("bandwidth"), kilobytes("halo_bytes_given"),
      kilobytes("halo_bytes"), report["seconds"].get<double>());
}

}  // namespace weft::tools
