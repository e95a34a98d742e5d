#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/rows/operand.h"

namespace weft::library {

/// Products with one operator in the layout of its vectors; keeps what it needs for the next one.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
class OperatorProducts {
 public:
  explicit OperatorProducts(spmv::LinearOperator& op) : op_(op) {}

  /// y = A·x. Shape: x, y: [element_count]. Throws comm_thread::MpiError.
  void multiply(std::span<const double> x, std::span<double> y);

  /// Y = A·X for `count` vectors, 8, 4 or 2 at a time where the operator is a matrix. Shape: x, y:
  /// [element_count · count], the entries of an element together. Throws comm_thread::MpiError.
  void multiply_block(std::span<const double> x, std::span<double> y, int count);

 private:
  /// Vectors first … first + width - 1 of `count`.
  struct Columns {
    int first;
    int width;
    int count;
  };
  void multiply_columns(spmv::SparseOperator& matrix, const Columns& columns,
                        std::span<const double> x, std::span<double> y);
  void multiply_column(int column, int count, std::span<const double> x, std::span<double> y);

  /// What blocks of one width need.
  struct Block {
    std::unique_ptr<spmv::HaloVector<double>> vectors;
    std::vector<perfmodel::HugePageBuffer<double>> rooms;  // [thread_count]
  };

  spmv::LinearOperator& op_;
  std::unique_ptr<spmv::Operand> operand_;
  perfmodel::HugePageBuffer<double> product_;
  std::map<int, Block> blocks_;  // by width
};

}  // namespace weft::library
