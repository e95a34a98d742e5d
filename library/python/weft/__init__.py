"""weft: solves large sparse linear systems A·x = b with MPI and threads.

    import weft
    x, report = weft.solve(A, b, preconditioner="jacobi", tolerance=1e-10)

`A` is a SciPy sparse array, matrix or LinearOperator. The options are those of `weft solve`, with
underscores (max_iterations), and divergence, history, reuse_preconditioner; an unknown name is an
error that lists them.

Serial without mpiexec. Under mpiexec every rank calls the same functions in the same order, and
passes either the whole matrix, the same on each, or its own consecutive rows: a matrix of shape
(rows of the rank, rows of all). Python's lock is released while weft works. Ctrl-C stops a solve
of a single rank; with several, mpiexec ends them.
"""

from __future__ import annotations

from typing import NamedTuple

# The first: it keeps the mask of processors while weft loads OpenMP.
from .jobs import Job, job, mpi_library

from . import _weft
from ._weft import Error, InputError
from .matrix import Matrix
from .reports import BlockResult, Report, Result
from .solver import (Monitor, Option, Preconditioner, Solver, as_preconditioner, solve,
                     solver_options)
from .spectra import Eigenvalues, SpectralDensity, eigenvalues, eigsh, lobpcg, spectral_density

__all__ = ["Eigenvalues", "Error", "InputError", "Job", "Matrix", "Option", "Report", "Result",
           "Solver", "SpectralDensity", "as_preconditioner", "dependencies", "eigenvalues", "eigsh",
           "job", "lobpcg", "mpi_library", "solve", "solver_options", "spectral_density"]
__version__: str = _weft.__version__


class Dependency(NamedTuple):
    """A library that weft uses; `version` begins with "missing" where it does without."""

    name: str
    version: str
    licence: str
    purpose: str


def dependencies() -> list[Dependency]:
    """The libraries that weft uses."""
    return [Dependency(*each) for each in _weft.dependencies()]
