#pragma once

#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Verdict on asynchronous Jacobi from bounds of ρ(|M|).
enum class AsyncGuarantee { guaranteed, not_guaranteed, unknown };
const char* name(AsyncGuarantee guarantee);

/// The spectral radius ρ of |M|, where M = −D⁻¹(L + U) is the iteration matrix of Jacobi's method.
/// Asynchronous Jacobi converges, however late messages come, if and only if ρ < 1; synchronous
/// Jacobi already if ρ(M) < 1, which is never larger.
/// Source: Bethune et al. 2012, section 2; Chazan and Miranker 1969.
struct JacobiSpectrum {
  double estimate = 0;  // between the bounds; of a symmetric |M|: not above ρ
  double lower = 0;
  double upper = 0;
  int iterations = 0;

  /// By the bounds alone; `unknown` while 1 lies between them. Rounding is allowed for.
  AsyncGuarantee async_guarantee() const;
};

struct SpectrumOptions {
  double accuracy = 1e-3;  // stops when upper − lower <= accuracy·upper
  int max_iterations = 200;  // at least one
};

/// Estimates ρ(|M|) by power iterations from a vector of ones.
///
/// Every positive x gives bounds, min and max of (|M|x)_i/x_i (Collatz, Wielandt), and the estimate
/// x·|M|x/x·x. The iteration is x ← |M|x + upper/8·x, since the plain one does not settle where |M|
/// also has the eigenvalue −ρ, as every grid Laplacian has. Bounds of a large grid close slowly: a
/// row cannot feel the boundary before as many iterations as there are points between.
/// All numbers are the same, to the last bit, for any number of ranks and threads.
/// Bytes per row and iteration besides the matrix: 24 for the product, 48 for the next x.
/// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on every
/// rank, where the diagonal has a zero. Source: Varga 1962, Matrix Iterative Analysis, theorem 2.2.
JacobiSpectrum collective_estimate_jacobi_spectrum(spmv::SparseOperator& op,
                                                   SpectrumOptions options = {});

}  // namespace weft::solver
