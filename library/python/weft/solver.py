"""A method with its preconditioner, and solves by it."""

from __future__ import annotations

import difflib
import re
import weakref
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from . import _weft
from ._weft import InputError
from .arguments import Array, agree, is_block, options_of
from .jobs import ENTRIES_OF_A_TEAM, Job, keep
from .matrix import matrix_of
from .reports import BlockResult, Result, report_of

Monitor = Callable[[int, float], Optional[bool]]
Preconditioner = Union[None, str, Callable[[Array], Array], linalg.LinearOperator]
_NAMES_OF_SCIPY = {"tol": "tolerance", "rtol": "tolerance", "atol": "absolute_tolerance",
                   "maxiter": "max_iterations", "M": "preconditioner", "callback": "monitor"}


def _in_words_of_python(error: InputError) -> InputError:
    """Of an unknown option, with the name that may be meant."""
    found = re.fullmatch(r"option (\S+): found an unknown name; expected (.*)", str(error))
    if not found:
        return error
    name, known = found[1], found[2].replace("-", "_").split(", ")
    close = difflib.get_close_matches(name, known, 1)
    meant = _NAMES_OF_SCIPY.get(name) or (close[0] if close else "one of " + ", ".join(known))
    return InputError(f"option {name}: found an unknown name; expected {meant}; help(weft.solve) says more")


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
        self.matrix = matrix_of(A, job, options)
        self._words = ", ".join(f"{name}={value!r}" for name, value in {
            "preconditioner": preconditioner, **options}.items()
            if isinstance(value, (str, bool, int, float)))
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
            try:
                self._solver = keep(_weft.Solver(self.matrix._matrix, values, apply, *vectors,
                                                  self.matrix.job.size == 1))
            except InputError as error:
                raise _in_words_of_python(error) from None
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

    def __repr__(self) -> str:
        return f"<weft.Solver: {self._words or 'defaults'}; {self.matrix!r}>"


class _Kept(NamedTuple):
    """The solver of the small matrix that `solve` was given twice, and what it was made of."""

    options: dict[str, str]
    shape: tuple[int, int]
    arrays: list[Array]  # of the matrix, copied
    solver: Solver


_last: Callable[[], Any] = lambda: None  # the small matrix of the last `solve`, where it still is
_kept: Optional[_Kept] = None
# With these the outcome depends on the system alone: no file, function, clock or earlier solve.
_OPTIONS_OF_KEPT = {"absolute_tolerance", "divergence", "history", "max_iterations", "method", "mode",
                    "null_space", "preconditioner", "restart", "scale", "tolerance", "triangle"}


def _may_be_kept(A: Any, job: Optional[Job], monitor: Optional[Monitor],
                 options: dict[str, Any]) -> bool:
    preconditioner = options["preconditioner"]
    null_space = options.get("null_space")
    is_word = preconditioner is None or (isinstance(preconditioner, str) and
                                         preconditioner.isalnum())
    return (job is None and monitor is None and is_word and sparse.issparse(A) and
            A.format == "csr" and A.dtype == np.float64 and A.nnz < ENTRIES_OF_A_TEAM and
            _OPTIONS_OF_KEPT.issuperset(options) and
            (null_space is None or (isinstance(null_space, str) and null_space == "none")))


def _have_same_bits(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and np.array_equal(one.view(f"i{one.itemsize}"),
                                                       other.view(f"i{other.itemsize}"))


def _solve_as_before(A: Any, b: Array, x0: Optional[Array],
                     options: dict[str, Any]) -> Union[Result, BlockResult]:
    """With the solver of the last two calls, where they had this matrix, and it has the same entries,
    bit by bit. Only the second one copies it, so that a single one costs nothing."""
    global _last, _kept
    if _last() is not A:
        _last, _kept = weakref.ref(A), None
        return Solver(A, **options).solve(b, x0)
    words = options_of(options)
    arrays = [A.data, A.indices, A.indptr]
    kept = _kept
    if (kept is not None and (kept.options, kept.shape) == (words, A.shape) and
            all(map(_have_same_bits, kept.arrays, arrays))):
        return kept.solver.solve(b, x0)
    _kept = None
    copies = [each.copy() for each in arrays]
    solver = Solver(A, **options)
    result = solver.solve(b, x0)
    # One that has turned to another method, or began again, would not do so a second time.
    if (isinstance(result, Result) and solver.matrix.job.size == 1 and result.report.converged and
            result.report.restarts == 0 and len(result.report.decisions) <= 1):
        _kept = _Kept(words, A.shape, copies, solver)
    return result


def solve(A: Any, b: Array, x0: Optional[Array] = None, method: str = "auto",
          preconditioner: Preconditioner = None, monitor: Optional[Monitor] = None,
          job: Optional[Job] = None, **options: Any) -> Union[Result, BlockResult]:
    """Solves A·x = b; returns x and a report, or reports. See Solver for the arguments.

        import scipy.sparse, weft
        A = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(10000, 10000))
        x, report = weft.solve(A, b, tolerance=1e-10)
        x, report = weft.solve(A, b, method="cg", preconditioner="amg:strength=0.08")

    Small csr matrices are not set up anew where the same one is solved for a third time, and on.
    """
    of_solver = {"method": method, "preconditioner": preconditioner, **options}
    if _may_be_kept(A, job, monitor, of_solver):
        return _solve_as_before(A, b, x0, of_solver)
    return Solver(A, preconditioner, monitor, job, method=method, **options).solve(b, x0)


def as_preconditioner(A: Any, preconditioner: Preconditioner = "jacobi",
                      job: Optional[Job] = None,
                      **options: Any) -> linalg.LinearOperator:
    """A preconditioner of weft as M for SciPy's own solvers: scipy.sparse.linalg.cg(A, b, M=M)."""
    solver = Solver(A, preconditioner, None, job, **options)
    return linalg.LinearOperator(solver.matrix.shape, matvec=solver.precondition,
                                              dtype=np.float64)


class Option(NamedTuple):
    """An option of Solver, which takes it as NAME=VALUE."""

    name: str
    values: str  # "INT", "auto|rows|none"; empty: True or False
    limits: str  # what else is known of that: "{auto,cg}", "INT in [1 - 32]"
    default: str  # empty: `help` says it, or there is none
    help: str


def solver_options() -> list[Option]:
    """The options of Solver, by the names that it takes."""
    return [Option(name.replace("-", "_"), *rest) for name, *rest in _weft.solver_options()]


def _options_text(standards: dict[str, str]) -> str:
    """The options, for help(); `standards`: defaults that are others than those of the library."""
    lines = ["", "    options, each as NAME=VALUE:"]
    for name, values, limits, standard, help_text in solver_options():
        standard = standards.get(name, standard)
        first, *more = help_text.splitlines()
        taken = limits.strip("{}").replace(",", "|") if limits.startswith("{") else limits or values
        words = "True or False" if not values else taken
        lines += [f"    {name}: {words}" + (f"; default: {standard}" if standard else "")]
        lines += [f"        {line.strip()}" for line in [first, *more]]
    return "\n".join(lines) + "\n"


solve.__doc__ = f"{solve.__doc__.rstrip()}\n{_options_text({'method': 'auto'})}"
Solver.__doc__ = f"{Solver.__doc__.rstrip()}\n{_options_text({})}"
