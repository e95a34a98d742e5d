#pragma once

#include "solver/eigen/eigen_report.h"
#include "solver/eigen/energy_range.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Says of the pairs of `report` how far each may be off, and whether one is missing.
///
/// The k pairs found show that k eigenvalues lie beyond the last value and its residual (Kahan). A
/// number σ a little further inwards, of which a factorization shows that no more than k are
/// beyond it, shows that there are no others. Where the last values are copies of more than were
/// asked for, σ lies before these instead. Rank 0 factors the matrix, if that fits there.
///
/// With B of A·x = λ·B·x, residuals are measured in the norm of B⁻¹, and another factorization
/// shows how small the least eigenvalue of B is at the least.
///
/// Error bounds. Not complete: the residual, to some eigenvalue (Weyl). Complete: values closer
/// than their residuals form a cluster, of which each is within ‖R‖, the Frobenius norm of the
/// cluster's residuals (Kahan), and within ‖R‖²/gap, where the gap is the distance to the next
/// value less ‖R‖ (Li, Li 2005). What rounding adds, 16·ε·‖A‖, or that of A and θ·B in the norm of
/// B⁻¹, is in all of them.
///
/// The same on every rank, whatever their number. Collective. Thread: the main thread, outside the
/// team. `mass`: B, null for the identity. Throws comm_thread::MpiError.
/// Source: Parlett, "The Symmetric Eigenvalue Problem", sections 3.3, 11.5 and 11.7; Li, Li 2005,
/// "A note on eigenvalues of perturbed Hermitian matrices".
void collective_certify(const spmv::SparseOperator& op, const spmv::SparseOperator* mass,
                        SpectrumEnd end, Certificate certificate, EigenReport& report);

/// Bytes that this will take of rank 0, at most, before there are matrices. `products`: that the
/// search may make. `nonzeros`: of A.
double certificate_bytes(Certificate certificate, double rows, double nonzeros, bool has_mass,
                         double products);

/// The same of a search for all eigenvalues in a range, with pairs in ascending order: counts just
/// outside of both ends. `automatic` counts only where the factor takes no more memory than the
/// search, `search_bytes` on all ranks, and a small part of its time.
void collective_certify_between(const spmv::SparseOperator& op, const EnergyRange& range,
                                double search_bytes, Certificate certificate, EigenReport& report);

}  // namespace weft::solver
