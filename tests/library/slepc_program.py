"""A program for slepc4py that knows nothing of weft: finds eigenvalues of a grid and prints them.
-n POINTS in a row, -shift S on the diagonal, -mass for a second matrix."""

import hashlib
import sys

import slepc4py

slepc4py.init(sys.argv)

import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc


def main():
    options = PETSc.Options()
    n = options.getInt("n", 20)
    diagonal = 4.5 + options.getReal("shift", 0.0)
    A = PETSc.Mat().createAIJ([n**2, n**2], nnz=(5, 4))
    first, end = A.getOwnershipRange()
    for row in range(first, end):
        A.setValue(row, row, diagonal)
        for step, at in ((1, row % n), (n, row // n)):
            strength = -1.0 if step == 1 else -1.25
            if at > 0:
                A.setValue(row, row - step, strength)
            if at < n - 1:
                A.setValue(row, row + step, strength)
    A.assemble()
    eps = SLEPc.EPS().create()
    if options.getBool("mass", False):
        B = PETSc.Mat().createAIJ([n**2, n**2], nnz=(3, 2))
        for row in range(first, end):
            B.setValue(row, row, 1.0 + 0.25 * (row % 3))
            for column in (row - 1, row + 1):
                if 0 <= column < n**2:
                    B.setValue(row, column, 0.25)
        B.assemble()
        eps.setOperators(A, B)
        eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    else:
        eps.setOperators(A)
        eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setDimensions(4)
    eps.setFromOptions()
    eps.solve()
    count = eps.getConverged()
    x = A.createVecRight()
    bits = hashlib.sha256()
    worst = 0.0
    values = []
    for number in range(min(count, eps.getDimensions()[0])):
        values.append(eps.getEigenpair(number, x).real)
        worst = max(worst, eps.computeError(number))
        scatter, whole = PETSc.Scatter.toAll(x)
        scatter.scatter(x, whole)
        bits.update(whole.getArray().tobytes())
    if PETSc.COMM_WORLD.getRank() == 0:
        print(f"eigenvalues: reason {eps.getConvergedReason()},",
              " ".join(f"{value:.8f}" for value in values), f"small {worst < 1e-7}")
        print("bits", hashlib.sha256(np.array(values).tobytes() + bits.digest()).hexdigest()[:16],
              flush=True)


main()
