"""The iterative solvers of scipy.sparse.linalg, by weft: exchange the import, and nothing else.

    from weft.scipy import cg, gmres, minres, bicgstab, spsolve, eigsh

Signatures, defaults, shapes, types and `info` are those of SciPy. One thing is new: `M="auto"`, which
is the default, takes algebraic multigrid as the preconditioner of matrices of 1000 rows or more that
allow it: symmetric ones with a positive diagonal. M=None takes none, as in SciPy.

What weft does not do as SciPy does is left to SciPy's function of the same name: complex and other
numbers than float32 and float64, operators without entries, a preconditioner of the caller, callbacks,
x0="Mb", `shift`, `show` and `check`, what is wrong with the arguments, and matrices on which weft's
method breaks down. With M="auto" it gets weft's preconditioner. `last_report()` says who solved, and
why. All other names of scipy.sparse.linalg are here, too, and SciPy's own.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable, Optional

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import weft

__all__ = ["ScipyReport", "bicgstab", "cg", "eigsh", "gmres", "last_report", "minres", "spsolve"]

# Fewer rows are solved in less time than a hierarchy takes.
_LEAST_ROWS_OF_AMG = 1000
# Sparse factors of fewer rows are quicker than any iteration.
_LEAST_ROWS_OF_SPSOLVE = 5000
# What spsolve promises is the accuracy of a direct method.
_TOLERANCE_OF_SPSOLVE = 1e-12


@dataclasses.dataclass(frozen=True)
class ScipyReport:
    """Who solved the last system.

    by: "weft" or "SciPy".
    why: why SciPy, or why this preconditioner.
    preconditioner: "amg" or "none".
    report: of weft's solve; None where SciPy solved, and of eigsh.
    """

    function: str
    by: str
    why: str
    preconditioner: str
    report: Optional[weft.Report] = None


_last: Optional[ScipyReport] = None


def last_report() -> Optional[ScipyReport]:
    """Who solved the last system of this module, and how; None before the first."""
    return _last


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(scipy.sparse.linalg, name)


def _note(*fields: Any) -> None:
    global _last
    _last = ScipyReport(*fields)


class _LeftToScipy(Exception):
    """Says why."""


def _allows_amg(A: Any) -> str:
    """Why `A` gets no algebraic multigrid; empty where it gets it."""
    if A.shape[0] < _LEAST_ROWS_OF_AMG:
        return f"fewer than {_LEAST_ROWS_OF_AMG} rows"
    if not (A.diagonal() > 0).all():
        return "the diagonal is not positive"
    # With other rounding than where all entries are compared, and a hundredth of the time.
    v = np.random.default_rng(1).standard_normal(A.shape[0])
    w = np.random.default_rng(2).standard_normal(A.shape[0])
    of_v, of_w = A @ v, A @ w
    scale = np.linalg.norm(of_v) * np.linalg.norm(w)
    return "" if abs(w @ of_v - v @ of_w) <= 1e-10 * scale else "the matrix is not symmetric"


def _has_only(*faults: tuple[bool, str]) -> None:
    for is_fault, why in faults:
        if is_fault:
            raise _LeftToScipy(why)


def _system(A: Any, b: Any, x0: Any) -> tuple[Any, Any, Any, np.dtype]:
    """A, b and x0 as weft takes them, and the type of x."""
    is_matrix = scipy.sparse.issparse(A) or (isinstance(A, np.ndarray) and A.ndim == 2)
    _has_only((not is_matrix, "A is an operator, whose entries weft does not see"),
              (hasattr(A, "psolve"), "A has a preconditioner of its own"))
    _has_only((A.ndim != 2 or A.shape[0] != A.shape[1], "A is not square"),
              (A.dtype.kind not in "iufb" or A.dtype.itemsize > 8, f"A has the type {A.dtype}"))
    if scipy.sparse.issparse(A) and A.format in ("lil", "dok"):  # without an array of numbers
        A = A.tocsr()
    b = np.asarray(b)
    rows = A.shape[0]
    _has_only((b.shape not in ((rows,), (rows, 1)), "b has another shape than A"),
              (b.dtype.kind not in "iufb" or b.dtype.itemsize > 8, f"b has the type {b.dtype}"),
              (isinstance(x0, str), "x0 is a word"))
    if x0 is not None:
        x0 = np.asarray(x0)
        _has_only((x0.shape not in ((rows,), (rows, 1)), "x0 has another shape than A"),
                  (x0.dtype.kind not in "iufb", f"x0 has the type {x0.dtype}"))
        x0 = x0.ravel().astype(np.float64)
    is_single = A.dtype == np.float32 and b.dtype == np.float32
    data = A.data if scipy.sparse.issparse(A) else A
    _has_only((rows == 0, "there are no rows"),
              (not np.isfinite(data).all() or not np.isfinite(b).all(),
               "there are numbers that are not finite"))
    return A, b.ravel().astype(np.float64), x0, np.dtype(np.float32 if is_single else np.float64)


def _by_scipy(name: str, why: str, A: Any, b: Any, x0: Any, M: Any, rest: dict[str, Any]) -> Any:
    """SciPy's own function, with weft's preconditioner where that is what M says."""
    function = getattr(scipy.sparse.linalg, name)
    preconditioner = "none" if M is None else "of the caller"
    if isinstance(M, str) and M == "auto":
        M, preconditioner = None, "none"
        is_real = np.asarray(b).dtype.kind != "c"
        if is_real and scipy.sparse.issparse(A) and A.dtype.kind == "f" and A.ndim == 2 and (
                A.shape[0] == A.shape[1]) and not _allows_amg(A):
            M, preconditioner = weft.as_preconditioner(A, "amg", triangle="as-is"), "amg"
    _note(name, "SciPy", why, preconditioner)
    if "rtol" in rest and "rtol" not in inspect.signature(function).parameters:
        rest = {("tol" if key == "rtol" else key): value for key, value in rest.items()}
    return function(A, b, x0=x0, M=M, **rest)


def _solve(name: str, A: Any, b: Any, x0: Any, M: Any, iterations: Callable[[int], tuple[int, int]],
           options: dict[str, Any], rest: dict[str, Any], why_not: str) -> Any:
    """`iterations`: of the rows the most that there may be, and the `info` that says so."""
    try:
        _has_only((why_not != "", why_not),
                  (M is not None and not isinstance(M, str), "M is one of the caller"))
        if isinstance(M, str) and M != "auto":
            raise ValueError(f"M: found {M!r}; expected 'auto', None, or a preconditioner")
        matrix, right, guess, type_of_x = _system(A, b, x0)
        if not right.any():
            _note(name, "weft", "b is zero", "none")
            return np.zeros(right.size, type_of_x), 0
        why = "M=None" if M is None else _allows_amg(matrix)
        if why == "":
            options["preconditioner"] = "amg"
        most, info = iterations(matrix.shape[0])
        try:
            x, report = weft.solve(matrix, right, guess, method=name, max_iterations=most,
                                   triangle="as-is", null_space="none", scale="none",
                                   divergence=np.inf, **options)
        except weft.InputError as error:
            raise _LeftToScipy(f"weft refuses: {error}") from None
        used_all = report.iterations >= most
        _has_only((not report.converged and not used_all,
                   f"weft's method ended: {report.explanation or report.status}"))
        _note(name, "weft", why or "the matrix allows it", report.preconditioner, report)
        return x.astype(type_of_x, copy=False), 0 if report.converged else info
    except _LeftToScipy as left:
        return _by_scipy(name, str(left), A, b, x0, M, rest)


def _fault_of_tolerances(rtol: Any, atol: Any, maxiter: Any) -> str:
    """What SciPy is to say about them."""
    is_known = all(isinstance(each, (int, float, np.number)) for each in (rtol, atol))
    if not is_known or not (0 <= rtol < np.inf and 0 <= atol < np.inf):
        return "a tolerance is no number that weft takes"
    if maxiter is not None and not (isinstance(maxiter, (int, np.integer)) and maxiter > 0):
        return "maxiter is no number that weft takes"
    return ""


def _same_count(maxiter: Optional[int], per_row: int) -> Callable[[int], tuple[int, int]]:
    def iterations(rows: int) -> tuple[int, int]:
        most = int(maxiter) if maxiter is not None else per_row * rows
        return most, most

    return iterations


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: Optional[int] = None, M: Any = "auto", callback: Any = None) -> Any:
    """As scipy.sparse.linalg.cg; with M="auto" algebraic multigrid is the preconditioner."""
    rest = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "callback": callback}
    why_not = _fault_of_tolerances(rtol, atol, maxiter) or (
        "callback sees x after each iteration" if callback is not None else "")
    return _solve("cg", A, b, x0, M, _same_count(maxiter, 10),
                  {"tolerance": rtol, "absolute_tolerance": atol}, rest, why_not)


def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
             maxiter: Optional[int] = None, M: Any = "auto", callback: Any = None) -> Any:
    """As scipy.sparse.linalg.bicgstab; M="auto" as in `cg`."""
    rest = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "callback": callback}
    why_not = _fault_of_tolerances(rtol, atol, maxiter) or (
        "callback sees x after each iteration" if callback is not None else "")
    return _solve("bicgstab", A, b, x0, M, _same_count(maxiter, 10),
                  {"tolerance": rtol, "absolute_tolerance": atol}, rest, why_not)


def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0,
           maxiter: Optional[int] = None, M: Any = "auto", callback: Any = None, show: bool = False,
           check: bool = False) -> Any:
    """As scipy.sparse.linalg.minres, to norm(b - A @ x) < rtol * norm(b); M="auto" as in `cg`."""
    rest = {"rtol": rtol, "shift": shift, "maxiter": maxiter, "callback": callback, "show": show,
            "check": check}
    why_not = _fault_of_tolerances(rtol, 0.0, maxiter) or (
        "callback sees x after each iteration" if callback is not None else
        "shift, show, check" if shift != 0 or show or check else "")
    return _solve("minres", A, b, x0, M, _same_count(maxiter, 5), {"tolerance": rtol}, rest, why_not)


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
          restart: Optional[int] = None, maxiter: Optional[int] = None, M: Any = "auto",
          callback: Any = None, callback_type: Optional[str] = None) -> Any:
    """As scipy.sparse.linalg.gmres; M="auto" as in `cg`. `maxiter` counts restarts, as there."""
    rest = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter,
            "callback": callback, "callback_type": callback_type}
    why_not = _fault_of_tolerances(rtol, atol, maxiter) or (
        "a callback" if callback is not None or callback_type is not None else "")
    if restart is not None and not (isinstance(restart, (int, np.integer)) and restart > 0):
        why_not = "restart is no number that weft takes"
    length = 20 if restart is None else restart

    def iterations(rows: int) -> tuple[int, int]:
        cycles = int(maxiter) if maxiter is not None else 10 * rows
        return cycles * min(int(length), rows), cycles

    return _solve("gmres", A, b, x0, M, iterations,
                  {"tolerance": rtol, "absolute_tolerance": atol, "restart": length}, rest, why_not)


def spsolve(A: Any, b: Any, permc_spec: Optional[str] = None, use_umfpack: bool = True) -> Any:
    """As scipy.sparse.linalg.spsolve, whose factors solve small systems and those of matrices that
    are not symmetric. Symmetric ones of 5000 rows or more with a positive diagonal are iterated to
    norm(b - A @ x) < 1e-12 norm(b) with algebraic multigrid, or factored where that fails."""
    try:
        _has_only((permc_spec is not None, "permc_spec is about factors"),
                  (not scipy.sparse.issparse(A), "A is not sparse"))
        matrix, right, _, type_of_x = _system(A, b, None)
        _has_only((type_of_x != np.float64, "A and b have the type float32"),
                  (matrix.shape[0] < _LEAST_ROWS_OF_SPSOLVE,
                   f"factors are quicker below {_LEAST_ROWS_OF_SPSOLVE} rows"),
                  ((why := _allows_amg(matrix)) != "", why))
        try:
            x, report = weft.solve(matrix, right, method="cg", preconditioner="amg",
                                   tolerance=_TOLERANCE_OF_SPSOLVE, max_iterations=1000,
                                   triangle="as-is", null_space="none")
        except weft.InputError as error:
            raise _LeftToScipy(f"weft refuses: {error}") from None
        _has_only((not report.converged, f"weft's method ended: {report.explanation}"))
        _note("spsolve", "weft", "the matrix allows it", report.preconditioner, report)
        return x
    except _LeftToScipy as left:
        _note("spsolve", "SciPy", str(left), "none")
        return scipy.sparse.linalg.spsolve(A, b, permc_spec, use_umfpack)


def _fault_of_search(A: Any, k: Any, which: Any, ncv: Any, maxiter: Any) -> str:
    """Why SciPy is to search."""
    if which not in ("SA", "LA"):
        return f"which={which!r}, where weft has 'SA' and 'LA'"
    if not scipy.sparse.issparse(A) and not (isinstance(A, np.ndarray) and A.ndim == 2):
        return "A is an operator, whose entries weft does not see"
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.dtype not in (np.float32, np.float64):
        return "A is not square, or of another type than float32 and float64"
    if not (isinstance(k, (int, np.integer)) and 0 < k < A.shape[0]):
        return "k is no number that weft takes"
    if ncv is not None and not (isinstance(ncv, (int, np.integer)) and k < ncv <= A.shape[0]):
        return "ncv is no number that weft takes"
    return _fault_of_tolerances(0.0, 0.0, maxiter)


def eigsh(A: Any, k: int = 6, M: Any = None, sigma: Any = None, which: str = "LM", v0: Any = None,
          ncv: Optional[int] = None, maxiter: Optional[int] = None, tol: float = 0,
          return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None,
          mode: str = "normal", **rest: Any) -> Any:
    """As scipy.sparse.linalg.eigsh. weft finds the smallest and the largest by value, which="SA" and
    "LA", of a real symmetric matrix, to 1e-14 of its norm whatever `tol`; SciPy all others."""
    special = {"M": M, "sigma": sigma, "v0": v0, "Minv": Minv, "OPinv": OPinv,
               "mode": None if mode == "normal" else mode, **rest}
    try:
        _has_only(*((value is not None, f"{name} is given") for name, value in special.items()))
        _has_only(((why := _fault_of_search(A, k, which, ncv, maxiter)) != "", why))
        try:
            found = weft.eigsh(A, int(k), which=which, ncv=ncv, maxiter=maxiter,
                               return_eigenvectors=return_eigenvectors)
        except (weft.InputError, scipy.sparse.linalg.ArpackNoConvergence) as error:
            raise _LeftToScipy(f"weft refuses: {error}") from None
        _note("eigsh", "weft", "the matrix allows it", "none")
        if not return_eigenvectors:  # in SciPy's order
            return (found[::-1] if which == "SA" else found).astype(A.dtype, copy=False)
        return found[0].astype(A.dtype, copy=False), found[1].astype(A.dtype, copy=False)
    except _LeftToScipy as left:
        _note("eigsh", "SciPy", str(left), "none")
        return scipy.sparse.linalg.eigsh(A, k, M, sigma, which, v0, ncv, maxiter, tol,
                                         return_eigenvectors, Minv, OPinv, mode, **rest)
