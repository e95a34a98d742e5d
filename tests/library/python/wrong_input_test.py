"""Tests of the errors for wrong input, which all ranks get."""

import pathlib
import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

from shared_systems import IS_ALONE, ROWS, matrix, right_hand_side


class WrongInput(unittest.TestCase):
    @unittest.skipIf(IS_ALONE, "ranks that differ")
    def test_ranks_that_differ_in_shapes_fail_together(self):
        A, b, rank = matrix(), right_hand_side(), weft.job().rank
        with self.assertRaises(weft.InputError):
            weft.Matrix(A if rank == 0 else A[:9, :9])
        solver = weft.Solver(A, method="cg")
        with self.assertRaises(weft.InputError):
            solver.solve(b if rank == 0 else np.ones((ROWS, 3)))
        with self.assertRaises(weft.InputError):
            solver.solve(np.ones((ROWS, 2 + rank)))

    def test_numbers_that_are_not_finite_are_named(self):
        A, b = matrix(), right_hand_side()
        bad = b.copy()
        bad[7] = np.inf
        solver = weft.Solver(A, method="cg")
        with self.assertRaisesRegex(weft.InputError, "b: found inf at index 7"):
            solver.solve(bad)
        with self.assertRaisesRegex(weft.InputError, "x0: found inf at index 7"):
            solver.solve(b, bad)
        with self.assertRaisesRegex(weft.InputError, r"b: found inf at index \[7, 1\]"):
            solver.solve(np.stack([b, bad], axis=1))

    def test_a_number_that_is_not_finite_has_the_same_index_on_any_number_of_ranks(self):
        job, A, b = weft.job(), matrix(), right_hand_side()
        begin, end = (ROWS * rank // job.size for rank in (job.rank, job.rank + 1))
        a = weft.Matrix(A[begin:end])
        solver = weft.Solver(a, method="cg")
        bad = b.copy()
        bad[ROWS - 3] = np.nan
        with self.assertRaisesRegex(weft.InputError, f"b: found nan at index {ROWS - 3};"):
            solver.solve(bad[begin:end])
        with self.assertRaisesRegex(weft.InputError, rf"b: found nan at index \[{ROWS - 3}, 1\]"):
            solver.solve(np.stack([b, bad], axis=1)[begin:end])
        data = A.data.copy()
        data[-5] = np.inf
        first, last = A.indptr[begin], A.indptr[end]
        with self.assertRaisesRegex(weft.InputError, f"values: found inf at index {A.nnz - 5};"):
            a.update_values(data[first:last])

    def test_a_wrong_name_of_an_option_tells_the_right_one(self):
        for name, meant in (("rtol", "tolerance"), ("maxiter", "max_iterations"),
                            ("tolerence", "tolerance"), ("frob", "one of .*max_iterations")):
            with self.assertRaisesRegex(weft.InputError,
                                        f"option {name}: found an unknown name; expected {meant}"):
                weft.solve(matrix(), right_hand_side(), **{name: 1})

    def test_wrong_input_is_a_value_error(self):
        with self.assertRaisesRegex(weft.InputError, "found 'sor'; expected auto"):
            weft.solve(matrix(), right_hand_side(), method="sor")
        with self.assertRaises(ValueError):
            weft.solve(matrix(), np.ones(3))
        for path in "A.mtx", pathlib.Path("A.mtx"):
            with self.assertRaisesRegex(weft.InputError, r"A: found 'A.mtx'; .*weft\.Matrix\.from_file"):
                weft.solve(path, np.ones(3))
        with self.assertRaises(ValueError):
            weft.Matrix(sp.csr_matrix((weft.job().rank + 1, 2)))  # 1, 3, 6, ... rows in all

    def test_what_is_wrong_on_one_rank_is_an_error_on_all(self):
        A, b = matrix(), right_hand_side()
        job = weft.job()
        first, last = ROWS * job.rank // job.size, ROWS * (job.rank + 1) // job.size
        rows = A if IS_ALONE else A[first:last]
        is_last = job.rank == job.size - 1
        own = b[first:last - 1] if is_last else b[first:last]
        with self.assertRaisesRegex(weft.InputError, "b: found the shape"):
            weft.solve(rows, own, method="cg")
        with self.assertRaisesRegex(weft.InputError, "found 'much'"):
            weft.solve(rows, b[first:last], tolerance="much" if is_last else 1e-8)
        with self.assertRaisesRegex(weft.InputError, "A: found 'none'; expected a matrix"):
            weft.Matrix("none" if is_last else rows)
        with self.assertRaisesRegex(weft.InputError, "b: found what is none"):
            weft.solve(rows, ["one"] if is_last else b[first:last])
        with self.assertRaisesRegex(weft.InputError, "b: found what is none"):
            weft.solve(rows, [[1], [1, 2]] if is_last else b[first:last])
        if not IS_ALONE:
            with self.assertRaisesRegex(weft.InputError, "x0: found one on some ranks"):
                weft.solve(rows, b[first:last], None if is_last else b[first:last])
            with self.assertRaisesRegex(weft.InputError, "found a LinearOperator on several ranks"):
                weft.Matrix(sla.aslinearoperator(A) if is_last else rows)
        with self.assertRaisesRegex(weft.InputError, "A: found complex numbers"):
            weft.Matrix(rows * 1j if is_last else rows)
        with self.assertRaisesRegex(weft.InputError, "b: found complex numbers"):
            weft.solve(rows, b[first:last] * (1j if is_last else 1))
