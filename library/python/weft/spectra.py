"""Eigenvalues of a symmetric matrix, and how they are spread."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple, Optional

import numpy as np
import scipy.sparse.linalg as linalg

from .arguments import Array, agree, options_of
from .jobs import Job
from .matrix import matrix_of


class Eigenvalues(NamedTuple):
    """Eigenvalues from the end of the spectrum inwards, or in ascending order where there is not one
    end; all but the vectors is the same on every rank."""

    values: Array
    residuals: Array  #: ‖A·x − value·x‖ with ‖x‖ = 1: an eigenvalue lies so near to each value
    vectors: Optional[Array]  #: as columns, of the rows that vectors of the matrix have
    converged: bool
    norm: float  #: ‖A‖, which the tolerance refers to
    products: int  #: A·x for one vector
    restarts: int
    error_bounds: Array  #: to the eigenvalue of the same number where complete, else to some one
    complete: bool  #: a factorization shows that none is missing up to the last value
    statement: str  #: "complete" or "not shown to be complete", and why
    missing: int  #: values shown to be there that were not found


class SpectralDensity(NamedTuple):
    """A density over energies, the same on every rank."""

    energies: Array  #: the middles of equal parts of `interval`
    density: Array  #: a unit of energy
    errors: Optional[Array]  #: standard deviations by the choice of vectors
    moments: Array  #: of Chebyshev polynomials, without a kernel
    interval: tuple[float, float]  #: all eigenvalues lie in it
    resolution: float  #: width of a peak in the middle
    products: int  #: A·x for one vector
    count: Optional[float]  #: eigenvalues between the ends that `interval` names
    count_uncertainty: Optional[float]


def eigenvalues_of(matrix: Any, vectors: bool, options: dict[str, Any], mass: Any = None,
                   preconditioner: Any = None, start: Any = None) -> Eigenvalues:
    """weft.eigenvalues of a weft.Matrix, with others and vectors to begin with. Collective."""
    used: Job = matrix.job
    with used._turn("weft.eigenvalues"):
        least, most = used._job.extremes(bool(vectors))
        agree(used, "" if least == most else
              "vectors: found both True and False on different ranks; expected the same on all")
        begin = np.empty((0, 0)) if start is None else matrix._own_block(start, "X", True)
        found = matrix._matrix.eigenvalues(
            options_of(options), bool(vectors), None if mass is None else mass._matrix,
            None if preconditioner is None else preconditioner._matrix, begin, begin.shape[1])
        if vectors:
            found["vectors"] = matrix._whole_block(
                found["vectors"].reshape(-1, len(found["values"])))
        return Eigenvalues(**found)


_WORDS = {"SA": "smallest", "LA": "largest", "BE": "both"}


def _fault_of_which(which: Any, sigma: Any, refused: dict[str, Any]) -> str:
    if sigma is not None and not isinstance(sigma, numbers.Real):
        return f"sigma: found {sigma!r}; expected a real number"
    if sigma is not None and which not in ("SA", "LM"):
        return f"which: found {which!r} with sigma; expected 'LM', the values nearest to sigma"
    if sigma is None and which not in _WORDS:
        return (f"which: found {which!r}; expected 'SA', 'LA' or 'BE', the smallest, the largest or "
                "half of both by value")
    for name, value in refused.items():
        if value is not None:
            return f"{name}: found a value; expected None: weft.eigsh does without"
    return ""


def eigsh_of(matrix: Any, k: Any, which: str, sigma: Any, tol: Any, return_eigenvectors: bool,
             refused: dict[str, Any], options: dict[str, Any], mass: Any = None) -> Any:
    """weft.eigsh of a weft.Matrix. Collective."""
    with matrix.job._turn("weft.eigsh"):
        agree(matrix.job, _fault_of_which(which, sigma, refused))
    tol = tol or (1e-14 if mass is None else 1e-12)
    found = eigenvalues_of(matrix, return_eigenvectors, dict(
        count=k, which=_WORDS[which] if sigma is None else f"near:{float(sigma)!r}",
        tolerance=tol, **{"certificate": "none", **options}), mass)
    ascending = np.argsort(found.values, kind="stable")
    if not found.converged:
        # As SciPy does, with the pairs that are good enough.
        ascending = ascending[found.residuals[ascending] <= tol * found.norm]
    values = found.values[ascending]
    vectors = None if found.vectors is None else np.ascontiguousarray(found.vectors[:, ascending])
    if not found.converged:
        raise linalg.ArpackNoConvergence(
            f"weft.eigsh: found {len(values)} of {len(found.values)} pairs within the tolerance after "
            f"{found.restarts} restarts", values, vectors)
    return (values, vectors) if return_eigenvectors else values


def lobpcg_of(matrix: Any, X: Any, mass: Any, preconditioner: Any, tol: Optional[float],
              largest: bool, refused: dict[str, Any], options: dict[str, Any]) -> Any:
    """weft.lobpcg of weft.Matrix objects. Collective."""
    X = np.asarray(X)
    with matrix.job._turn("weft.lobpcg"):
        fault = "" if X.ndim == 2 and X.shape[1] > 0 else (
            f"X: found the shape {X.shape}; expected (rows, vectors)")
        for name, value in refused.items():
            fault = fault or (f"{name}: found a value; expected none: weft.lobpcg does without"
                              if value is not None and value is not False else "")
        agree(matrix.job, fault)
    enough = matrix.shape[0] * 1e-15 ** 0.5 if tol is None else tol
    found = eigenvalues_of(matrix, True, dict(
        method="lobpcg", count=X.shape[1], which="largest" if largest else "smallest",
        tolerance=1e-14, absolute_tolerance=enough,
        **{"certificate": "none", "preconditioner": "none", **options}),
        mass, preconditioner, X)
    if not found.converged:
        warnings.warn(f"weft.lobpcg: residuals up to {found.residuals.max():.3g} after "
                      f"{found.restarts} steps; expected at most {enough:.3g}", UserWarning,
                      stacklevel=3)
    return found.values, found.vectors


def density_of(matrix: Any, v: Any, w: Any, options: dict[str, Any]) -> SpectralDensity:
    """weft.spectral_density of a weft.Matrix. Collective."""
    if isinstance(options.get("interval"), (tuple, list)):
        options["interval"] = ":".join(str(end) for end in options["interval"])
    used: Job = matrix.job
    with used._turn("weft.spectral_density"):
        given = (v is not None) + 2 * (w is not None)
        least, most = used._job.extremes(given)
        agree(used, "" if least == most else
              "v, w: found other ones on some ranks; expected the same on all")
        vectors = [np.empty(0) if each is None else matrix._own(each, what, True)
                   for each, what in ((v, "v"), (w, "w"))]
        return SpectralDensity(**matrix._matrix.spectral_density(options_of(options), *vectors))


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
    return eigenvalues_of(matrix_of(A, job, options, has_team=True), vectors, options)


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
    matrix = matrix_of(A, job, options, has_team=True)
    mass = None if M is None else matrix_of(M, matrix.job, {})
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
    matrix = matrix_of(A, job, options, has_team=True)
    mass = None if B is None else matrix_of(B, matrix.job, {})
    is_word = M is None or isinstance(M, str)
    return lobpcg_of(matrix, X, mass, None if is_word else matrix_of(M, matrix.job, {}), tol,
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
    return density_of(matrix_of(A, job, options, has_team=True), v, w, options)
