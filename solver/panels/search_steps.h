#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/direct/small_matrix.h"

namespace weft::solver {

/// One thing that all ranks of a search do, each with its own rows. What it costs follows from the
/// rows and nonzeros of a rank.
struct SearchStep {
  enum class Kind : std::uint8_t {
    product,  // of the matrix and a block of vectors, fused with a step of the filter
    pass,  // over vectors
    sum,  // an all-reduce by recursive doubling
    dense,  // the eigenvalues of a small matrix, the same on all ranks
    space,  // nothing: here a search space ends
  };

  Kind kind = Kind::product;
  int width = 0;  // product: vectors that it multiplies at once
  double values = 0;  // product, pass: of vectors, read or written for each row
  double flops = 0;  // for each row, beside those of the matrix; dense: of the whole
  std::size_t bytes = 0;  // sum: of each message

  bool operator==(const SearchStep&) const = default;
};

/// What a search has done, in order: the same on all ranks, and whatever their number.
/// Thread: the primary one.
class SearchSteps {
 public:
  const std::vector<SearchStep>& all() const { return all_; }

  void add_product(int width, double values, double flops) {
    all_.push_back({SearchStep::Kind::product, width, values, flops, 0});
  }
  void add_pass(double values, double flops) {
    all_.push_back({SearchStep::Kind::pass, 0, values, flops, 0});
  }
  void add_sum(std::size_t bytes) { all_.push_back({SearchStep::Kind::sum, 0, 0, 0, bytes}); }
  /// The eigenvalues of a matrix of so many rows, by `symmetric_eigen`.
  void add_dense(int rows) {
    constexpr double rotating = 48;
    constexpr double reducing = 9;
    const double n = rows;
    all_.push_back({SearchStep::Kind::dense, 0, 0,
                    (rows <= most_rotated_rows ? rotating : reducing) * n * n * n, 0});
  }
  void end_space() { all_.push_back({SearchStep::Kind::space, 0, 0, 0, 0}); }

 private:
  std::vector<SearchStep> all_;
};

}  // namespace weft::solver
