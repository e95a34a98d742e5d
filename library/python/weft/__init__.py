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

from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np
# Not as `scipy`, which is a module of this package.
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

# The first: it keeps the mask of processors while weft loads OpenMP.
from .jobs import Job, job, keep, mpi_library
from .jobs import job as default_job

from . import _weft
from ._weft import Error, InputError
from .arguments import (Array, agree, agree_at, attempt, fault_of_numbers, fault_of_type,
                        fault_of_vector, is_block, options_of, real)
from .reports import BlockResult, Report, Result, report_of
from .spectra import (Eigenvalues, SpectralDensity, density_of, eigenvalues_of, eigsh_of,
                      lobpcg_of)

__all__ = ["Eigenvalues", "Error", "InputError", "Job", "Matrix", "Report", "Result", "Solver",
           "SpectralDensity", "as_preconditioner", "dependencies", "eigenvalues", "eigsh", "job",
           "lobpcg", "mpi_library", "solve", "spectral_density"]
__version__: str = _weft.__version__

Monitor = Callable[[int, float], Optional[bool]]
Preconditioner = Union[None, str, Callable[[Array], Array], linalg.LinearOperator]


class Dependency(NamedTuple):
    """A library that weft uses; `version` begins with "missing" where it does without."""

    name: str
    version: str
    licence: str
    purpose: str


def dependencies() -> list[Dependency]:
    """The libraries that weft uses."""
    return [Dependency(*each) for each in _weft.dependencies()]


class Matrix:
    """A square matrix or linear operator whose rows are dealt to the ranks of a job.

    A: a SciPy sparse array or matrix, a dense 2-D array, or a LinearOperator (of a single rank).
        Under mpiexec this rank's rows, or the whole matrix on every rank, which is then cut.
    options: format ("auto", "crs" or "sell"), triangle ("mirrored" or "as-is").

    A matrix with entries on one side of the diagonal only may be half of a symmetric one: no Solver
    takes it unless triangle is "mirrored", which makes it whole, or "as-is". Explicit zeros off the
    diagonal are left out of the operator; `update_values` may give them other values.
    """

    def __init__(self, A: Any, job: Optional[Job] = None, **options: Any) -> None:
        self.job = job if job is not None else default_job()
        with self.job._turn("weft.Matrix"):
            self._make(A, options)

    def _make(self, A: Any, options: dict[str, Any]) -> None:
        self._is_whole = False  # every rank has given the whole matrix
        self._given_format = getattr(A, "format", "csr") if sparse.issparse(A) else "csr"
        self._from_csc: Optional[Array] = None  # place in the data of A of each entry by rows
        if isinstance(A, linalg.LinearOperator) and self.job.size == 1:
            self._matrix = self._of_operator(A, options)
            return
        if isinstance(A, linalg.LinearOperator):
            fault, rows = ("A: found a LinearOperator on several ranks; expected "
                           "Matrix.from_operator, which says what each rank needs of others"), None
        else:
            fault, rows = attempt(lambda: sparse.csr_matrix(A), "A", "a matrix")
        agree(self.job, fault or fault_of_type(rows, "A"))
        if self._given_format == "csc":
            places = sparse.csc_matrix((np.arange(len(A.data)), A.indices, A.indptr),
                                             shape=A.shape)
            self._from_csc = sparse.csr_matrix(places).data
        self._value_count = rows.nnz
        least, most = self.job._job.extremes(rows.shape[1])
        agree(self.job, "" if least == most else
               f"A: found {least} to {most} columns on different ranks; expected the same on all")
        is_square = rows.shape[0] == rows.shape[1]
        # One rank may own all the rows, which is then no reason to cut them.
        self._is_whole = self.job.size > 1 and self.job._job.extremes(is_square)[0] == 1
        if self._is_whole:
            block = _weft.row_block(rows.shape[0])
            blocks = -(-rows.shape[0] // block)
            cut = [min(rows.shape[0], blocks * rank // self.job.size * block)
                   for rank in (self.job.rank, self.job.rank + 1)]
            self._begin, self._end = cut
            self._nonzeros = slice(int(rows.indptr[cut[0]]), int(rows.indptr[cut[1]]))
            rows = rows[cut[0]:cut[1]]
        self._matrix = keep(_weft.Matrix.from_rows(
            self.job._job, self.job._job.exclusive_sum(rows.shape[0]),
            np.ascontiguousarray(rows.indptr, dtype=np.int64),
            np.ascontiguousarray(rows.indices, dtype=np.int64),
            np.ascontiguousarray(rows.data, dtype=np.float64), options_of(options)))
        agree(self.job, "" if self._matrix.row_count == rows.shape[1] else
               f"A: found {self._matrix.row_count} rows and {rows.shape[1]} columns; expected a "
               "square matrix")

    def _of_operator(self, A: linalg.LinearOperator, options: dict[str, Any]) -> Any:
        """On one rank."""
        if options:
            raise InputError("options: found " + ", ".join(options) +
                             " with a LinearOperator; expected none")
        if A.shape[0] != A.shape[1]:
            raise InputError(f"A: found the shape {A.shape}; expected a square operator")

        def product(x: Array, y: Array) -> None:
            y[:] = A.matvec(x)

        return keep(_weft.Matrix.from_operator(self.job._job, 0, A.shape[0], [], product, None, None,
                                                0.0))

    @classmethod
    def _wrap(cls, matrix: Any, of_job: Job) -> "Matrix":
        made = cls.__new__(cls)
        made.job, made._matrix, made._is_whole = of_job, keep(matrix), False
        made._given_format, made._from_csc = "csr", None
        return made

    @classmethod
    def from_file(cls, path: str, job: Optional[Job] = None, **options: Any) -> "Matrix":
        """From a file, Matrix Market, PETSc or SciPy, of which each rank gets its rows.

        options: format, triangle, order, partition; base (0 or 1), where the rows of entries as text
            without a header count from.
        """
        used = job if job is not None else default_job()
        with used._turn("Matrix.from_file"):
            return cls._wrap(_weft.Matrix.from_file(used._job, str(path), options_of(options)), used)

    @classmethod
    def generate(cls, problem: str, job: Optional[Job] = None, **options: Any) -> "Matrix":
        """A generated problem, "poisson3d:128"; operator="stencil": a grid without a matrix."""
        used = job if job is not None else default_job()
        with used._turn("Matrix.generate"):
            return cls._wrap(_weft.Matrix.generate(used._job, problem, options_of(options)), used)

    @classmethod
    def from_operator(cls, row_count: int, boundary: Callable[[Array, Array], None],
                      interior: Optional[Callable[[Array, Array], None]] = None,
                      halo_rows: Sequence[int] = (), diagonal: Optional[Array] = None,
                      norm: float = 0.0, job: Optional[Job] = None) -> "Matrix":
        """An operator of the caller on `row_count` rows of this rank.

        boundary(x, y): writes the entries of y that `interior` has not written; x has the values of
            this rank, then those of `halo_rows`. Shape: y: (row_count,).
        interior(x, y): runs while the halo travels; x has the values of this rank.
        halo_rows: rows of other ranks that `boundary` reads; ascending.
        """
        used = job if job is not None else default_job()
        with used._turn("Matrix.from_operator"):
            first = used._job.exclusive_sum(row_count)
            return cls._wrap(_weft.Matrix.from_operator(used._job, first, row_count, list(halo_rows),
                                                        interior, boundary, diagonal, norm), used)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of all ranks."""
        return self._matrix.row_count, self._matrix.row_count

    @property
    def local_row_count(self) -> int:
        """Rows of this rank: the length of its vectors, unless every rank gave the whole matrix."""
        return self._matrix.local_row_count

    @property
    def nnz(self) -> int:
        return self._matrix.nonzero_count

    @property
    def format(self) -> str:
        """How the rows are stored."""
        return self._matrix.format

    @property
    def remarks(self) -> list[str]:
        """What was left out or decided when the matrix was made, or when right-hand sides were
        read from files, and why no Solver takes it."""
        return self._matrix.remarks

    def update_values(self, data: Array) -> None:
        """Other values in the same places: `data` as that of the csr or csc matrix given before, or
        row by row where it was dense, explicit zeros included."""
        with self.job._turn("update_values"):
            if not hasattr(self, "_value_count"):
                raise InputError("update_values: found a matrix that was not made of rows")
            values = real(self.job, data, "values")
            fault = ""
            if self._given_format in ("coo", "bsr", "dia"):
                fault = (f"update_values: found a matrix that was given as {self._given_format}; "
                         "expected csr or csc, whose data has one order: convert it before")
            elif values.shape != (self._value_count,):
                fault = (f"values: found the shape {values.shape}; expected ({self._value_count},), as "
                         "in the matrix given before")
            agree_at(self.job, 0 if self._is_whole else self._value_count,
                      lambda first: fault or fault_of_numbers(values, "values", first))
            if self._from_csc is not None:
                values = values[self._from_csc]
            self._matrix.update_values(values[self._nonzeros] if self._is_whole else values)

    def right_hand_side(self, word: str = "") -> Array:
        """b by the words of the command line: "ones", "random:1", "boundary-one" ..."""
        with self.job._turn("right_hand_side"):
            return self._whole(self._matrix.right_hand_side(word))

    def __matmul__(self, x: Array) -> Array:
        """A·x, or A·X for several vectors at once. Shape: as b of `Solver.solve`."""
        with self.job._turn("a product"):
            if is_block(self.job, x, self._count()):
                columns = self._own_block(x, "x")
                product = np.empty_like(columns)
                self._matrix.multiply_block(columns, product, columns.shape[1])
                return self._whole_block(product)
            own = self._own(x, "x")
            y = np.empty(self.local_row_count)
            self._matrix.multiply(own, y)
            return self._whole(y)

    def _count(self) -> int:
        """Entries of a vector of the caller on this rank."""
        return self.shape[0] if self._is_whole else self.local_row_count

    def _own(self, vector: Any, what: str, is_finite: bool = False) -> Array:
        """This rank's part of a vector of the caller. Collective."""
        count = self._count()
        array = real(self.job, vector, what)
        fault = fault_of_vector(array, count, what)
        agree_at(self.job, 0 if self._is_whole else count,
                  lambda first: fault if fault or not is_finite else
                  fault_of_numbers(array.reshape(count), what, first))
        array = array.reshape(count)
        return array[self._begin:self._end].copy() if self._is_whole else array

    def _own_block(self, block: Any, what: str, is_finite: bool = False) -> Array:
        """This rank's rows of several vectors, in memory row by row. Collective."""
        count = self._count()
        array = real(self.job, block, what)
        has_shape = array.ndim == 2 and array.shape[0] == count
        agree_at(self.job, 0 if self._is_whole else count,
                  lambda first: f"{what}: found the shape {array.shape}; expected ({count}, vectors)"
                  if not has_shape else fault_of_numbers(array, what, first) if is_finite
                  else fault_of_type(array, what))
        least, most = self.job._job.extremes(array.shape[1])
        agree(self.job, "" if least == most else
               f"{what}: found {least} to {most} vectors on different ranks; expected as many on all")
        return array[self._begin:self._end].copy() if self._is_whole else array

    def _whole_block(self, own: Array) -> Array:
        if not self._is_whole:
            return own
        count = own.shape[1]
        return self.job._job.gather_all(own.reshape(-1), self.shape[0] * count).reshape(-1, count)

    def _whole(self, own: Array) -> Array:
        return self.job._job.gather_all(own, self.shape[0]) if self._is_whole else own

    def __repr__(self) -> str:
        return (f"<weft.Matrix: {self.shape[0]} rows, {self.nnz} nonzeros, {self.format}, "
                f"{self.local_row_count} rows on this rank>")


class Solver:
    """A method with its preconditioner, set up once for any number of solves.

    A: a weft.Matrix, or what makes one; then options may have `triangle`, see Matrix.
    preconditioner: a word of the command line; or M ≈ A⁻¹ as a function z = M(r) or a LinearOperator
        on this rank's rows, which must be symmetric unless method is fcg, or a gmres or bicgstab.
    options: near_null, coordinates and null_space may be arrays instead of files: vectors side by
        side, coordinates of nodes or of the node of each row, and one vector.
    monitor: called after each iteration with its number and ‖r‖/‖b‖; a true result stops the solve,
        which on several ranks all must ask for.
    """

    def __init__(self, A: Any, preconditioner: Preconditioner = None,
                 monitor: Optional[Monitor] = None, job: Optional[Job] = None,
                 **options: Any) -> None:
        self.matrix = _matrix_of(A, job, options)
        with self.matrix.job._turn("weft.Solver"):
            vectors = self._vectors_of(options)
        values = options_of(options)
        apply: Optional[Callable[[Array, Array], None]] = None
        if isinstance(preconditioner, str):
            values["preconditioner"] = preconditioner
        elif preconditioner is not None:
            agree(self.matrix.job, "" if not any(np.size(each) for each in vectors[::2]) else
                  "near_null, coordinates, null_space: found an array beside a function as the "
                  "preconditioner; expected one of them")
            product = preconditioner.matvec if isinstance(
                preconditioner, linalg.LinearOperator) else preconditioner

            def apply(r: Array, z: Array) -> None:
                z[:] = product(r)

        with self.matrix.job._turn("weft.Solver"):
            self._solver = keep(_weft.Solver(self.matrix._matrix, values, apply, *vectors,
                                              self.matrix.job.size == 1))
            self._solver.set_monitor(monitor)

    def _vectors_of(self, options: dict[str, Any]) -> list[Any]:
        """Takes the arrays among the options, which are files where they are words: near_null,
        coordinates and null_space, with the numbers of their columns. Collective."""
        taken: list[Any] = []
        for name in ("near_null", "coordinates", "null_space"):
            given = options.get(name)
            is_array = given is not None and not isinstance(given, str)
            own, count = np.empty(0), 0
            if is_array:
                array = np.asarray(options.pop(name))
                rows = array.reshape(-1, 1) if array.ndim == 1 else array
                # Coordinates may be those of nodes, each of which has as many rows.
                if name == "coordinates" and rows.shape[0] != self.matrix._count():
                    rows = np.repeat(rows, rows.shape[1], axis=0)
                block = self.matrix._own_block(rows, name, True)
                own, count = np.ascontiguousarray(block).reshape(-1), block.shape[1]
            taken += [own] if name == "null_space" else [own, count]
        return taken

    def solve(self, b: Array, x0: Optional[Array] = None) -> Union[Result, BlockResult]:
        """Solves A·x = b, from x0 where it is given.

        Shape: b, x0, x: (rows of this rank,), or (rows of all,) where every rank gave the whole
        matrix. With a second dimension, (rows, k), k systems are solved, at once where method is
        "cg", each with the bits that it has alone; the result is a BlockResult. Any outcome is a
        report, not an exception.
        """
        with self.matrix.job._turn("solve") as of_job:
            least, most = of_job._job.extremes(x0 is not None)
            agree(of_job, "" if least == most else
                   "x0: found one on some ranks; expected it on all, or on none")
            if is_block(of_job, b, self.matrix._count()):
                block = self.matrix._own_block(b, "b", True)
                start = (np.zeros_like(block) if x0 is None
                         else self.matrix._own_block(x0, "x0", True).copy())
                agree(of_job, "" if start.shape == block.shape else
                       f"x0: found the shape {start.shape}; expected {block.shape}")
                reports = self._solver.solve_block(block, start, block.shape[1], x0 is not None)
                return BlockResult(self.matrix._whole_block(start),
                                   [report_of(each) for each in reports])
            own = self.matrix._own(b, "b", True)
            x = np.zeros(own.size) if x0 is None else self.matrix._own(x0, "x0", True).copy()
            report = self._solver.solve(own, x, x0 is not None)
            return Result(self.matrix._whole(x), report_of(report))

    def precondition(self, r: Array) -> Array:
        """M·r with the preconditioner alone."""
        with self.matrix.job._turn("precondition"):
            own = self.matrix._own(r, "r")
            z = np.empty(own.size)
            self._solver.precondition(own, z)
            return self.matrix._whole(z).reshape(np.shape(r))

    def renew_preconditioner(self) -> None:
        """Makes the preconditioner again at the next solve."""
        with self.matrix.job._turn("renew_preconditioner", False):
            self._solver.renew_preconditioner()


def solve(A: Any, b: Array, x0: Optional[Array] = None, method: str = "auto",
          preconditioner: Preconditioner = None, monitor: Optional[Monitor] = None,
          job: Optional[Job] = None, **options: Any) -> Union[Result, BlockResult]:
    """Solves A·x = b; returns x and a report, or reports. See Solver for the arguments.

        import scipy.sparse, weft
        A = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(10000, 10000))
        x, report = weft.solve(A, b, tolerance=1e-10)
        x, report = weft.solve(A, b, method="cg", preconditioner="amg:strength=0.08")
    """
    return Solver(A, preconditioner, monitor, job, method=method, **options).solve(b, x0)


def as_preconditioner(A: Any, preconditioner: Preconditioner = "jacobi",
                      job: Optional[Job] = None,
                      **options: Any) -> linalg.LinearOperator:
    """A preconditioner of weft as M for SciPy's own solvers: scipy.sparse.linalg.cg(A, b, M=M)."""
    solver = Solver(A, preconditioner, None, job, **options)
    return linalg.LinearOperator(solver.matrix.shape, matvec=solver.precondition,
                                              dtype=np.float64)


def _matrix_of(A: Any, of_job: Optional[Job], options: dict[str, Any]) -> Matrix:
    """`A`, or what is made of it; takes `triangle` from the options."""
    if isinstance(A, Matrix):
        return A
    of_matrix = {"triangle": options.pop("triangle")} if "triangle" in options else {}
    return Matrix(A, of_job, **of_matrix)


def eigenvalues(A: Any, vectors: bool = False, job: Optional[Job] = None,
                **options: Any) -> Eigenvalues:
    """Eigenvalues of a symmetric A, smallest or largest by value, each with a bound for its error.

        found = weft.eigenvalues(A, count=10, which="largest")
        print(found.values, found.residuals)

    A: a weft.Matrix, or what makes one; then options may have `triangle`, see Matrix.
    vectors: gives the eigenvectors, too, as columns. Shape: (rows of this rank, count), or (rows of
        all, count) where every rank gave the whole matrix.
    options: count, which ("smallest", "largest", "both" or "near:SIGMA"), interval ("A:B"),
        tolerance, block, subspace, degree, max_restarts, max_seconds, certificate, mode, and of lobpcg
        method, mass (a file), preconditioner, max_iterations, as of `weft eigen`. A mass matrix in
        memory: see eigsh and lobpcg.
    """
    return eigenvalues_of(_matrix_of(A, job, options), vectors, options)


def eigsh(A: Any, k: int = 6, M: Any = None, sigma: Any = None, which: str = "SA", v0: Any = None,
          ncv: Optional[int] = None, maxiter: Optional[int] = None, tol: float = 0,
          return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None,
          mode: str = "normal", job: Optional[Job] = None, **options: Any) -> Any:
    """`weft.eigenvalues` as scipy.sparse.linalg.eigsh: (w, v), or w, in ascending order.

        w, v = weft.eigsh(A, k=10, which="SA")

    which: "SA", "LA" or "BE", the smallest, the largest, or half of k from each end, by value; others
        are an error.
    sigma: a number to which the values shall be nearest; `which` is "LM" then, or not given.
    ncv, maxiter: vectors of the search space, and how often it is restarted.
    tol: ends where ‖A·x − w·x‖ <= tol·‖A‖; 0 is 1e-14.
    M: a positive definite matrix, of A·x = w·M·x; then vᵀ·M·v is the identity, `tol` 0 is 1e-12, there
        is no ncv, no sigma, and `preconditioner` is one of the options ("amg").
    v0, Minv, OPinv, mode: None, and "normal".
    options: block, degree, and triangle, see Matrix.

    Raises scipy.sparse.linalg.ArpackNoConvergence, with the pairs that are within the tolerance,
    where not all are.
    """
    refused = {"v0": v0, "Minv": Minv, "OPinv": OPinv,
               "mode": None if mode == "normal" else mode}
    matrix = _matrix_of(A, job, options)
    mass = None if M is None else _matrix_of(M, matrix.job, {})
    limit = "max_restarts" if M is None else "max_iterations"
    return eigsh_of(matrix, k, which, sigma, tol, return_eigenvectors, refused,
                    {"subspace": ncv, limit: maxiter, **options}, mass)


def lobpcg(A: Any, X: Array, B: Any = None, M: Any = None, Y: Any = None,
           tol: Optional[float] = None, maxiter: Optional[int] = None, largest: bool = True,
           verbosityLevel: int = 0, retLambdaHistory: bool = False,
           retResidualNormsHistory: bool = False, restartControl: int = 20,
           job: Optional[Job] = None, **options: Any) -> Any:
    """`weft.eigenvalues` as scipy.sparse.linalg.lobpcg: (w, v) of A·x = w·B·x, from X.

        w, v = weft.lobpcg(A, X, M="amg", largest=False)

    X: vectors to begin with, as columns, as many as are wanted.
    B: positive definite; None: the identity. Vectors have vᵀ·B·v = 1.
    M: an approximate inverse of A, as a matrix, or the name of a preconditioner of weft: "amg".
    tol: ends where all ‖A·x − w·B·x‖ are below it, x of norm 1; None: rows · 3.2e-8, as in SciPy.
    maxiter: steps; None: 500.
    largest: w from the largest down, else from the smallest up.
    Y, retLambdaHistory, retResidualNormsHistory: None, and False. restartControl and
        verbosityLevel: have no effect.
    options: block, certificate, near_null, coordinates, and triangle, see Matrix.

    Warns where some pair is not within the tolerance.
    """
    refused = {"Y": Y, "retLambdaHistory": retLambdaHistory,
               "retResidualNormsHistory": retResidualNormsHistory}
    matrix = _matrix_of(A, job, options)
    mass = None if B is None else _matrix_of(B, matrix.job, {})
    is_word = M is None or isinstance(M, str)
    return lobpcg_of(matrix, X, mass, None if is_word else _matrix_of(M, matrix.job, {}), tol,
                     bool(largest), refused,
                     {"max_iterations": maxiter, "preconditioner": M if is_word else None, **options})


def spectral_density(A: Any, v: Optional[Array] = None, w: Optional[Array] = None,
                     job: Optional[Job] = None, **options: Any) -> SpectralDensity:
    """The density of states of a symmetric A by the kernel polynomial method; its integral is the
    number of rows.

    v, w: the spectral function ⟨v|δ(E − A)|v⟩, or ⟨v|δ(E − A)|w⟩, instead.
    options: moments, vectors, kernel ("jackson", "lorentz:4"), interval (two energies between which
        eigenvalues are counted), points, seed, block, mode, as of `weft spectrum`; triangle, see
        Matrix.
    """
    return density_of(_matrix_of(A, job, options), v, w, options)


def _options_text(standards: dict[str, str]) -> str:
    """The options, for help(); `standards`: defaults that are others than those of the library."""
    lines = ["", "    options, each as NAME=VALUE:"]
    for name, values, limits, standard, help_text in _weft.solver_options():
        name = name.replace("-", "_")
        standard = standards.get(name, standard)
        first, *more = help_text.splitlines()
        taken = limits.strip("{}").replace(",", "|") if limits.startswith("{") else limits or values
        words = "True or False" if not values else taken
        lines += [f"    {name}: {words}" + (f"; default: {standard}" if standard else "")]
        lines += [f"        {line.strip()}" for line in [first, *more]]
    return "\n".join(lines) + "\n"


solve.__doc__ = f"{solve.__doc__.rstrip()}\n{_options_text({'method': 'auto'})}"
Solver.__doc__ = f"{Solver.__doc__.rstrip()}\n{_options_text({})}"
