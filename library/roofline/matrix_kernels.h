#pragma once

#include <memory>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/roofline_kernel.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_vector.h"

namespace weft::library {

/// y = A·x by the parts that the modes are made of: interior and boundary rows, in CRS and as
/// stored, and the packing of what neighbours need.
///
/// Lifetime: outlives the kernels that it made. `op` outlives it.
class MatrixKernels {
 public:
  /// `l2_bytes`: a core's second-level cache; `cache_bytes`: of all caches that a thread can count
  /// on. Collective.
  MatrixKernels(const comm_thread::Job& job, spmv::SparseOperator& op, double l2_bytes,
                double cache_bytes);
  MatrixKernels(const MatrixKernels&) = delete;
  MatrixKernels& operator=(const MatrixKernels&) = delete;

  /// The same list on every rank. Collective.
  std::vector<RooflineKernel> collective_kernels();

 private:
  struct Rows {
    spmv::LocalIndex begin;
    spmv::LocalIndex end;
  };
  /// Rows of every thread that need the halo, or do not.
  struct Part {
    std::vector<std::vector<Rows>> runs;  // [thread_count]
    double rows = 0;
    double nonzeros = 0;
    double eights = 0;  // groups of eight entries of a row, the last one of fewer
    double whole_eights = 0;
    double nonzeros_shifted = 0;  // eight rows on from there load x across two lines
    double nonzeros_unforeseen = 0;  // in rows of another length than the row before
  };

  void divide_rows();
  static void count_row(const spmv::CrsMatrix& rows, spmv::LocalIndex row, Part& part);
  RooflineKernel crs_kernel(const Part& part, std::string name, std::string what);
  RooflineKernel stored_kernel(const Part& part, spmv::RowSet set, std::string name,
                               std::string what);
  static perfmodel::CoreWork crs_work(const Part& part);
  static perfmodel::CoreWork numbered_work(const Part& part);
  static perfmodel::CoreWork stencil_work(const Part& part, bool has_diagonal);
  static perfmodel::CoreWork shifted_work(const Part& part);
  static perfmodel::CoreWork sliced_work(const Part& part);
  RooflineKernel pack_kernel();
  double simulated_reload_bytes();

  const comm_thread::Job& job_;
  spmv::SparseOperator& op_;
  double l2_bytes_;
  double cache_bytes_;
  std::unique_ptr<spmv::HaloVector<double>> x_;
  perfmodel::HugePageBuffer<double> y_;
  Part interior_;
  Part boundary_;
};

}  // namespace weft::library
