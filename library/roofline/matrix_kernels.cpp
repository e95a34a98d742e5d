#include "library/roofline/matrix_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "library/roofline/column_reload.h"
#include "library/roofline/crs_traffic.h"
#include "perfmodel/core_probes.h"
#include "spmv/matrix/crs_kernel.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::CoreWork;
using spmv::CrsMatrix;
using spmv::LocalIndex;
using spmv::RowSet;

std::size_t as_index(LocalIndex row) { return static_cast<std::size_t>(row); }

}  // namespace

MatrixKernels::MatrixKernels(const comm_thread::Job& job, spmv::SparseOperator& op, double l2_bytes,
                             double cache_bytes)
    : job_(job),
      op_(op),
      l2_bytes_(l2_bytes),
      cache_bytes_(cache_bytes),
      x_(op.collective_make_vector()),
      y_(op.element_count()) {
  divide_rows();
  job_.team().run([&](const TeamThread& thread) {
    const auto begin = op_.matrix().thread_rows()[static_cast<std::size_t>(thread.index)];
    const auto end = op_.matrix().thread_rows()[static_cast<std::size_t>(thread.index) + 1];
    std::fill(x_->own().data() + begin, x_->own().data() + end, 1.0);
    std::fill(y_.data() + begin, y_.data() + end, 0.0);
  });
  std::ranges::fill(x_->halo(), 1.0);
}

void MatrixKernels::divide_rows() {
  const CrsMatrix& rows = op_.matrix().matrix().rows;
  const auto cuts = op_.matrix().thread_rows();
  for (std::size_t thread = 0; thread + 1 < cuts.size(); ++thread) {
    interior_.runs.emplace_back();
    boundary_.runs.emplace_back();
    for (LocalIndex row = cuts[thread]; row < cuts[thread + 1]; ++row) {
      const LocalIndex* const columns = rows.columns.data();
      const bool is_interior = std::all_of(
          columns + rows.row_offsets[as_index(row)], columns + rows.row_offsets[as_index(row + 1)],
          [&](LocalIndex column) { return column < rows.row_count; });
      Part& part = is_interior ? interior_ : boundary_;
      auto& runs = part.runs.back();
      if (!runs.empty() && runs.back().end == row)
        ++runs.back().end;
      else
        runs.push_back({row, row + 1});
      count_row(rows, row, part);
    }
  }
}

void MatrixKernels::count_row(const CrsMatrix& rows, LocalIndex row, Part& part) {
  const double length = nonzeros_in(rows, row, row + 1);
  part.rows += 1;
  part.nonzeros += length;
  part.eights += std::ceil(length / 8);
  part.whole_eights += std::floor(length / 8);
  if (row > 0 && length != nonzeros_in(rows, row - 1, row)) part.nonzeros_unforeseen += length;
  for (auto k = rows.row_offsets[as_index(row)]; k < rows.row_offsets[as_index(row) + 1]; ++k)
    if ((rows.columns[static_cast<std::size_t>(k)] - row) % 8 != 0) part.nonzeros_shifted += 1;
}

CoreWork MatrixKernels::crs_work(const Part& part) {
  const double rows = part.rows / part.nonzeros;  // for each nonzero
  // Value, column and x; an offset a row, and two prefetches for eight nonzeros and for each row.
  const double prefetches = 2 * (part.whole_eights + part.rows) / part.nonzeros;
  return {.element = "nonzero",
          .count = part.nonzeros,
          .scalars = {.loads = 3 + rows + prefetches,
                      .stores = rows,
                      .additions = 1,
                      .multiplications = 1},
          // In order, and the next row does not begin before an end that was not foreseen.
          .chain = {.additions = part.nonzeros_unforeseen / part.nonzeros}};
}

/// CRS, and the number of each value.
CoreWork MatrixKernels::numbered_work(const Part& part) {
  CoreWork work = crs_work(part);
  work.scalars.loads += 1;
  return work;
}

/// Eight rows at once; x for every slot, two prefetches, and the values where there are too many
/// for registers or where the eight of a slot differ. The count is for equal ones, and the diagonal
/// where it stands apart.
CoreWork MatrixKernels::stencil_work(const Part& part, bool has_diagonal) {
  const double rows = part.rows / part.nonzeros;
  const double shifted = part.nonzeros_shifted / part.nonzeros;
  return {.element = "nonzero",
          .count = part.nonzeros,
          .vectors = {.loads = 1 - shifted + (has_diagonal ? rows : 0),
                      .shifted_loads = shifted,
                      .stores = rows,
                      .additions = 1,
                      .multiplications = 1},
          .scalars = {.loads = (2 * rows + (rows * 7 < 1 ? 1 : 0)) / 8}};
}

/// Eight rows at once: eight loads of values for eight columns, transposed in pairs, then in pairs
/// of pairs and so on; then x, a column and a prefetch for every eight nonzeros.
CoreWork MatrixKernels::shifted_work(const Part& part) {
  const double rows = part.rows / part.nonzeros;
  const double shifted = part.nonzeros_shifted / part.nonzeros;
  const double values = 8 * part.eights / part.nonzeros;
  const int stages = std::countr_zero(perfmodel::probe_vector_bytes() / sizeof(double));
  return {.element = "nonzero",
          .count = part.nonzeros,
          .vectors = {.loads = 1 - shifted,
                      .shifted_loads = values + shifted,
                      .stores = rows,
                      .additions = 1,
                      .multiplications = 1,
                      .shuffles = values * stages},
          .scalars = {.loads = 2.0 / 8}};
}

/// Eight rows at once: their values as a vector, eight columns and eight entries of x one by one,
/// which are then put together; two prefetches. Eight results are taken apart and stored one by
/// one. The end of a chunk is not foreseen, so that the next one does not begin before.
CoreWork MatrixKernels::sliced_work(const Part& part) {
  const double rows = part.rows / part.nonzeros;
  const auto vector = static_cast<double>(perfmodel::probe_vector_bytes()) / double{sizeof(double)};
  const double joints = (8 - 8 / vector) / 8;
  return {.element = "nonzero",
          .count = part.nonzeros,
          .vectors = {.loads = 1, .additions = 1, .multiplications = 1},
          .scalars = {.loads = 2 + 2.0 / 8 + rows, .stores = rows, .shuffles = joints * (1 + rows)},
          .chain = {.additions = 1.0 / 8}};
}

RooflineKernel MatrixKernels::crs_kernel(const Part& part, std::string name, std::string what) {
  RooflineKernel kernel;
  kernel.name = std::move(name);
  kernel.what = std::move(what);
  // Values, columns, offsets, x once, and y before it is overwritten.
  kernel.memory = {bytes_per_nonzero * part.nonzeros + 24 * part.rows, 8 * part.rows,
                   2 * part.nonzeros};
  kernel.data_bytes = bytes_per_nonzero * part.nonzeros + 24 * part.rows;
  kernel.nonzeros = part.nonzeros;
  if (part.nonzeros > 0) kernel.core = crs_work(part);
  kernel.run = [this, &part](const TeamThread& thread) {
    for (const Rows& run : part.runs[static_cast<std::size_t>(thread.index)])
      multiply_crs(op_.matrix().matrix().rows, run.begin, run.end, x_->data(), y_.data());
  };
  kernel.run_in_cache = [this, &part](const TeamThread& thread) {
    const auto& runs = part.runs[static_cast<std::size_t>(thread.index)];
    const CrsMatrix& rows = op_.matrix().matrix().rows;
    double all = 0;
    for (const Rows& run : runs) all += nonzeros_in(rows, run.begin, run.end);
    double done = 0;
    while (done < elements_in_cache && all > 0) {
      double bytes = 0;
      for (const Rows& run : runs) {
        LocalIndex end = run.begin;
        for (; end < run.end && bytes < l2_bytes_ / 2; ++end)
          bytes += bytes_per_nonzero * nonzeros_in(rows, end, end + 1) + 24;
        multiply_crs(rows, run.begin, end, x_->data(), y_.data());
        done += nonzeros_in(rows, run.begin, end);
        if (bytes >= l2_bytes_ / 2) break;
      }
    }
    return all > 0 ? done / all : 1;
  };
  return kernel;
}

RooflineKernel MatrixKernels::stored_kernel(const Part& part, RowSet set, std::string name,
                                            std::string what) {
  const double all_rows = interior_.rows + boundary_.rows;
  const double matrix_bytes =
      all_rows > 0 ? static_cast<double>(op_.matrix().matrix_bytes()) * part.rows / all_rows : 0;
  RooflineKernel kernel;
  kernel.name = std::move(name);
  kernel.what = std::move(what);
  kernel.memory = {matrix_bytes + 16 * part.rows, 8 * part.rows, 2 * part.nonzeros};
  kernel.data_bytes = matrix_bytes + 16 * part.rows;
  const std::string format = op_.matrix().format_name();
  if (part.nonzeros > 0)
    kernel.core = format.starts_with("SELL")      ? sliced_work(part)
                  : format.starts_with("stencil") ? stencil_work(part, format.ends_with("diagonal"))
                  : format.starts_with("CRS, shift") ? shifted_work(part)
                                                     : numbered_work(part);
  kernel.run = [this, set](const TeamThread& thread) {
    op_.matrix().multiply(set, thread.index, x_->data(), y_.data(), nullptr);
  };
  kernel.run_in_cache = [this, &part, set](const TeamThread& thread) {
    double all = 0;
    for (const Rows& run : part.runs[static_cast<std::size_t>(thread.index)])
      all += run.end - run.begin;
    double done = 0;
    while (done < elements_in_cache && all > 0) {
      const LocalIndex rows =
          op_.matrix().multiply_first_run(set, thread.index, x_->data(), y_.data());
      if (rows == 0) break;
      done += rows;
    }
    return all > 0 ? done / all : 1;
  };
  return kernel;
}

RooflineKernel MatrixKernels::pack_kernel() {
  const double entries = static_cast<double>(op_.halo_plan().send_list.size());
  RooflineKernel kernel;
  kernel.name = "pack";
  kernel.what = "entries for neighbours to the send buffer";
  kernel.memory = {24 * entries, 8 * entries, 0};
  kernel.data_bytes = 24 * entries;
  kernel.core = {.element = "entry", .count = entries, .scalars = {.loads = 2, .stores = 1}};
  kernel.run = [this](const TeamThread& thread) { x_->pack(thread.index); };
  return kernel;
}

/// Bytes of x that one product of this rank's interior rows loads again.
double MatrixKernels::simulated_reload_bytes() {
  std::vector<double> bytes(interior_.runs.size());
  job_.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const CrsMatrix& rows = op_.matrix().matrix().rows;
    const LocalIndex begin = op_.matrix().thread_rows()[index];
    const LocalIndex end = op_.matrix().thread_rows()[index + 1];
    bytes[index] = simulate_column_reload(rows, begin, end, x_->data(),
                                          static_cast<std::size_t>(cache_bytes_)) *
                   nonzeros_in(rows, begin, end);
  });
  const double all = interior_.nonzeros + boundary_.nonzeros;
  return all > 0 ? std::accumulate(bytes.begin(), bytes.end(), 0.0) * interior_.nonzeros / all : 0;
}

std::vector<RooflineKernel> MatrixKernels::collective_kernels() {
  const bool has_boundary = job_.world().sum(boundary_.rows) > 0;
  const std::string format = op_.matrix().format_name();
  const bool is_in_other_form = job_.world().max(std::int64_t{format != "CRS"}) > 0;
  std::vector<RooflineKernel> all;
  all.push_back(crs_kernel(interior_, "crs-local", "y = A x, CRS, interior rows"));
  all.back().reload_bytes = simulated_reload_bytes();
  if (has_boundary)
    all.push_back(crs_kernel(boundary_, "crs-boundary", "y = A x, CRS, boundary rows"));
  if (is_in_other_form) {
    const std::string form = format.starts_with("SELL")         ? "SELL"
                             : format.starts_with("stencil")    ? "patterns"
                             : format.starts_with("CRS, shift") ? "shifted rows"
                                                                : "numbered values";
    all.push_back(stored_kernel(interior_, RowSet::interior, "stored-local",
                                "y = A x, " + form + ", interior rows"));
    if (has_boundary)
      all.push_back(stored_kernel(boundary_, RowSet::boundary, "stored-boundary",
                                  "y = A x, " + form + ", boundary rows"));
  }
  if (has_boundary) all.push_back(pack_kernel());
  return all;
}

}  // namespace weft::library
