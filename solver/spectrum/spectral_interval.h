#pragma once

#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// An interval that holds all eigenvalues of a matrix. `half()` is above zero.
struct SpectralInterval {
  double least = -1;
  double greatest = 1;

  double center() const { return least + (greatest - least) / 2; }
  double half() const { return (greatest - least) / 2; }
};

/// The interval of a symmetric matrix, by some steps of Lanczos with one random vector: the
/// outermost Ritz values, moved outwards by their distance from an eigenvalue, and by 1 % of the
/// width, but never beyond ‖A‖∞. An eigenvalue of which the vector has nearly nothing may lie
/// outside, which shows as moments that grow (ChebyshevMoments).
/// Collective. Thread: the main thread, outside the team. Throws comm_thread::MpiError.
SpectralInterval collective_spectral_interval(spmv::SparseOperator& op, spmv::Mode mode);

/// The interval from −‖A‖∞ to ‖A‖∞, which no eigenvalue is outside of. Collective.
SpectralInterval collective_widest_interval(const spmv::SparseOperator& op);

}  // namespace weft::solver
