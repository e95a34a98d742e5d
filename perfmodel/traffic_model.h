#pragma once

#include <cstdint>

namespace weft::perfmodel {

/// Bytes per flop of y = A·x with CRS in double precision: 6 + 12/N_nzr + κ/2.
/// `nonzeros_per_row`: N_nzr. `kappa`: extra bytes per nonzero for loading x more than once.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, "DP CRS code balance".
double crs_code_balance(double nonzeros_per_row, double kappa = 0);

/// Least bytes moved by y = A·x with a matrix of `matrix_bytes`: the matrix and x are read once, y
/// is written once with write-allocate.
double spmv_bytes(double matrix_bytes, double row_count);

/// Floating point operations of an iteration of multigrid on a grid with 7 points: a V-cycle with
/// `steps` of smoothing before and after, a residual, a semi-iteration and coarse grids that have
/// 1/7 of the points together; counted in the loops of solver/multigrid/row_kernels.h.
double multigrid_flops(double row_count, int steps);

}  // namespace weft::perfmodel
