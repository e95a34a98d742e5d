"""weft from Python: the system of solve.cpp, an operator that is a function, and weft in SciPy."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

side = 100
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side))
A = sp.csr_matrix(sp.kronsum(line, line))
b = np.ones(side * side)

x, report = weft.solve(A, b, method="cg", tolerance=1e-10)
if weft.job().rank == 0:
    print(f"{report.status} after {report.iterations} iterations, residual "
          f"{report.relative_residual:.2e}, x[0] = {x[0]:.17g}")

if weft.job().size == 1:
    operator = sla.LinearOperator(A.shape, matvec=lambda v: A @ v)
    y, by_function = weft.solve(operator, b, method="cg", tolerance=1e-10)
    M = weft.as_preconditioner(A, "schwarz:subdomains=16")
    z, info = sla.cg(A, b, M=M)
    print(f"{by_function.status} as a function, largest difference {np.abs(x - y).max():.1e}; "
          f"SciPy's cg with weft's Schwarz: info {info}")
