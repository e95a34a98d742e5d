#pragma once

#include <string>

#include "library/options/option.h"
#include "spmv/matrix/matrix_format.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition_by.h"

namespace weft::library {

/// How a matrix is read, ordered, cut and stored.
struct MatrixSettings {
  std::string format = "auto";
  std::string order = "given";  // empty: not named; see `order_of`
  std::string partition = "rows";
  std::string triangle;  // mirrored or as-is; empty: not given
  std::string base;  // 0 or 1; empty: not given

  /// The order that applies where none is named: `auto` for a file, else as given.
  std::string order_of(const spmv::Problem& problem) const {
    return !order.empty() ? order : problem.is_file() ? "auto" : "given";
  }
  /// What is made equal where no graph partition is asked for.
  spmv::PartitionBy parsed_partition() const {
    return partition == "nonzeros" ? spmv::PartitionBy::nonzeros : spmv::PartitionBy::rows;
  }
  spmv::MatrixFormat parsed_format() const { return *spmv::parse_matrix_format(format); }
  /// True if rows are in the order of the problem or file, on consecutive ranks.
  bool has_given_order() const { return order == "given" && partition != "metis"; }
};

/// partition, order, triangle, base and format.
const OptionTable<MatrixSettings>& matrix_options();

}  // namespace weft::library
