"""A program for petsc4py that knows nothing of weft: solves a problem twice, with new values the
second time, and prints what came out. -problem poisson|elasticity|convection, -n POINTS. Of
poisson, -zeros: stores exact zeros, some of which have other values the second time. Of elasticity, -modes coordinates|none: what the program gives instead of rigid body modes."""

import hashlib
import sys

import petsc4py

petsc4py.init(sys.argv)

import numpy as np
from petsc4py import PETSc


def grid_matrix(n, drift):
    """Seven points of n³; with `drift` not symmetric."""
    A = PETSc.Mat().createAIJ([n**3, n**3], nnz=(7, 6))
    first, end = A.getOwnershipRange()
    for row in range(first, end):
        k, j, i = row // (n * n), row // n % n, row % n
        A.setValue(row, row, 6.0)
        for step, at in ((1, i), (n, j), (n * n, k)):
            if at > 0:
                A.setValue(row, row - step, -1.0 - drift)
            if at < n - 1:
                A.setValue(row, row + step, -1.0 + drift)
    A.assemble()
    return A


def set_far_entries(A, n, value_of):
    """Couples points two steps apart, by value_of(row, column)."""
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    first, end = A.getOwnershipRange()
    for row in range(first, end):
        for step in (-2 * n, 2 * n):
            if 0 <= row // n % n + step // n < n:
                A.setValue(row, row + step, value_of(row, row + step))
    A.assemble()


def plate_matrix(n):
    """Plane elasticity on n × n squares, clamped at one side. Entries are
    multiples of 2⁻²⁰: they have the same bits whatever ranks add them up."""
    young, poisson = 1.0, 0.3
    D = young / (1 - poisson**2) * np.array(
        [[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])
    element = np.zeros((8, 8))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    for x in (-3**-.5, 3**-.5):
        for y in (-3**-.5, 3**-.5):
            slope = np.array([[a * (1 + b * y), b * (1 + a * x)] for a, b in corners]) / 4
            B = np.zeros((3, 8))
            B[0, 0::2], B[1, 1::2] = slope[:, 0], slope[:, 1]
            B[2, 0::2], B[2, 1::2] = slope[:, 1], slope[:, 0]
            element += B.T @ D @ B
    element = np.round(element * 2**20) / 2**20
    nodes = n * (n + 1)  # without the clamped column
    A = PETSc.Mat().create()
    A.setSizes(2 * nodes)
    A.setBlockSize(2)
    A.setType("aij")
    A.setPreallocationNNZ((18, 18))
    first, end = A.getOwnershipRange()
    for j in range(n):
        for i in range(n):
            dofs = np.full(8, -1, dtype=PETSc.IntType)
            for corner, (a, b) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
                node = (j + b) * n + (i + a - 1)
                if i + a > 0:
                    dofs[2 * corner:2 * corner + 2] = 2 * node, 2 * node + 1
            if first <= max(dofs[4], dofs[5]) - 1 < end:
                A.setValues(dofs, dofs, element.ravel(), addv=True)
    A.assemble()
    return A


def plate_points(A, n):
    """Of this rank's nodes, which are numbered row by row."""
    first, end = A.getOwnershipRange()
    own = np.arange(first // 2, end // 2)
    return np.column_stack((own % n + 1.0, own // n + 0.0))


def give_modes(A, points):
    vector = A.createVecRight()
    vector.setBlockSize(2)
    vector.setArray(points.ravel())
    vector.assemble()
    A.setNearNullSpace(PETSc.NullSpace().createRigidBody(vector))


def solve(ksp, A, b, what):
    x = A.createVecRight()
    ksp.setOperators(A)
    ksp.solve(b, x)
    r = b.copy()
    A.multAdd(-x, b, r)
    scatter, whole = PETSc.Scatter.toAll(x)
    scatter.scatter(x, whole)
    print_once(f"{what}: reason {ksp.getConvergedReason()}, {ksp.getIterationNumber()} iterations, "
               f"small {r.norm() / b.norm() < 2e-8}, "
               f"x {hashlib.sha256(whole.getArray().tobytes()).hexdigest()[:16]}")


def print_once(text):
    if PETSc.COMM_WORLD.getRank() == 0:
        print(text, flush=True)


def main():
    options = PETSc.Options()
    n = options.getInt("n", 12)
    problem = options.getString("problem", "poisson")
    A = plate_matrix(n) if problem == "elasticity" else grid_matrix(
        n, 0.25 if problem == "convection" else 0.0)
    b = A.createVecRight()
    first, end = b.getOwnershipRange()
    b.setArray(1.0 + np.arange(first, end) % 7)
    ksp = PETSc.KSP().create()
    ksp.setType("gmres" if problem == "convection" else "cg")
    ksp.setTolerances(rtol=1e-8, max_it=500)
    ksp.setFromOptions()
    if problem == "elasticity":
        modes = options.getString("modes", "vectors")
        if modes == "vectors":
            give_modes(A, plate_points(A, n))
        elif modes == "coordinates":
            ksp.getPC().setCoordinates(plate_points(A, n))
    if options.getBool("zeros", False):
        set_far_entries(A, n, lambda row, column: 0.0)
    solve(ksp, A, b, "first")
    A.scale(2.0)
    A.shift(0.5)
    if options.getBool("zeros", False):
        set_far_entries(A, n, lambda row, column: -0.25 * ((row + column) // 2 % 2))
    solve(ksp, A, b, "new values")
    # The preconditioner alone, once.
    z = A.createVecRight()
    ksp.getPC().apply(b, z)
    scatter, whole = PETSc.Scatter.toAll(z)
    scatter.scatter(z, whole)
    print_once(f"preconditioner: {hashlib.sha256(whole.getArray().tobytes()).hexdigest()[:16]}")


main()
