"""The matrix whose rows are dealt to the ranks of a job."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from . import _weft
from ._weft import InputError
from .arguments import (Array, agree, agree_at, attempt, fault_of_numbers, fault_of_type,
                        fault_of_vector, is_block, options_of, real)
from .jobs import Job, job as default_job, job_for, keep


def _job_of(A: Any) -> Job:
    if sparse.issparse(A):
        return job_for(A.nnz)
    return job_for(A.size) if isinstance(A, np.ndarray) else default_job()


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
        self.job = job if job is not None else _job_of(A)
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
        elif isinstance(A, (str, os.PathLike)):
            fault, rows = (f"A: found {os.fspath(A)!r}; expected a matrix: weft.Matrix.from_file reads "
                           "one from a file, weft.Matrix.generate makes one of a problem"), None
        else:
            fault, rows = attempt(lambda: sparse.csr_matrix(A), "A", "a matrix")
        if not fault and rows.ndim != 2:
            fault = f"A: found the shape {rows.shape}; expected rows and columns"
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


def matrix_of(A: Any, of_job: Optional[Job], options: dict[str, Any],
              has_team: bool = False) -> Matrix:
    """`A`, or what is made of it; takes `triangle` from the options. `has_team`: with all threads,
    however few its entries are."""
    if isinstance(A, Matrix):
        return A
    if of_job is None and has_team:
        of_job = default_job()
    of_matrix = {"triangle": options.pop("triangle")} if "triangle" in options else {}
    return Matrix(A, of_job, **of_matrix)
