#pragma once

#include <cholmod.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "solver/direct/lower_triangle.h"

namespace weft::solver {

/// A sparse Cholesky factorization by CHOLMOD: factored once, then two triangular solves each time.
///
/// Simplicial L·Lᵀ: on 66×66 points of a grid 132 µs a solve; supernodal takes 319 µs with the BLAS
/// that Debian installs. Bytes a solve: 12 per nonzero of L, twice. Threads share the factor, which
/// no solve changes, and have a CHOLMOD workspace each.
class CholmodFactor {
 public:
  /// `thread_count`: how many threads may solve at the same time. Throws comm_thread::InputError
  /// with the text `fault` where the matrix is not positive definite to working precision.
  CholmodFactor(const LowerTriangle& matrix, int thread_count, const std::string& fault);
  ~CholmodFactor();
  CholmodFactor(const CholmodFactor&) = delete;
  CholmodFactor& operator=(const CholmodFactor&) = delete;

  /// Memory that the factor of `matrix` will take, and the least while it is computed, from a
  /// symbolic analysis. 0 where CHOLMOD fails.
  static double forecast_bytes(const LowerTriangle& matrix);

  /// The solution for `right_hand_side`, valid until the next call by the same thread.
  /// Shape: both [size]. `thread`: below `thread_count`. Allocates at the first call of a thread
  /// only.
  std::span<const double> solve(int thread, std::span<double> right_hand_side);

 private:
  /// Workspace of one thread's solves.
  struct alignas(64) Workspace {
    Workspace() { cholmod_start(&common); }
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    cholmod_common common{};
    cholmod_dense* solution = nullptr;
    cholmod_dense* permuted = nullptr;
    cholmod_dense* sparse_part = nullptr;
  };

  cholmod_common common_{};  // of the factor
  cholmod_factor* factor_ = nullptr;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one for each thread
};

}  // namespace weft::solver
