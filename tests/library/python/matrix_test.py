"""Tests of matrices: their entries, halves of them, and new values."""

import os
import unittest

import numpy as np
import scipy.sparse as sp

import weft

from shared_systems import ROWS, matrix, right_hand_side


class Matrix(unittest.TestCase):
    def test_new_values_are_those_of_a_new_matrix(self):
        A, b = matrix(), right_hand_side()
        a = weft.Matrix(A)
        a.update_values(2 * A.data)
        np.testing.assert_array_equal(a @ b, weft.Matrix(2 * A) @ b)

    def test_explicit_zeros_are_places_for_new_values(self):
        A, b = matrix(), right_hand_side()
        zeros = A.copy()
        rows = np.repeat(np.arange(ROWS), np.diff(A.indptr))
        zeros.data[abs(rows - A.indices) == 50] = 0
        a = weft.Matrix(zeros)
        self.assertIn("exact zeros off the diagonal", a.remarks[0])
        self.assertEqual(a.nnz, np.count_nonzero(zeros.data))
        np.testing.assert_array_equal(a @ b, weft.Matrix(zeros, triangle="as-is") @ b)
        solver = weft.Solver(a, method="cg", preconditioner="ilu0")
        self.assertTrue(solver.solve(b).report.converged)
        for values in (A.data, zeros.data, 2 * A.data):
            a.update_values(values)
            other = sp.csr_matrix((values, A.indices, A.indptr))
            np.testing.assert_array_equal(a @ b, weft.Matrix(other) @ b)
            expected = weft.solve(other, b, method="cg", preconditioner="ilu0").x
            np.testing.assert_array_equal(solver.solve(b).x, expected)

    def test_half_of_a_matrix_needs_a_word(self):
        A, b = matrix(), right_hand_side()
        for half in (sp.triu(A).tocsr(), sp.tril(A).tocsr()):
            with self.assertRaisesRegex(weft.InputError, "the diagonal only; expected both"):
                weft.solve(half, b)
            np.testing.assert_array_equal(weft.solve(half, b, triangle="mirrored", method="cg").x,
                                          weft.solve(A, b, method="cg").x)
            x = weft.solve(half, b, triangle="as-is", tolerance=1e-12).x
            np.testing.assert_allclose(half @ x, b, atol=1e-6)
            a = weft.Matrix(half, triangle="mirrored")
            a.update_values(3 * half.data)
            np.testing.assert_array_equal(a @ b, weft.Matrix(3 * A) @ b)
            with self.assertRaisesRegex(weft.InputError, "expected it with the matrix"):
                weft.Solver(a, triangle="as-is")

    def test_entries_as_text_count_from_where_base_says(self):
        job = weft.job()
        path = os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), f"base{os.getppid()}.txt")
        if job.rank == 0:
            with open(path, "w") as file:
                file.write("".join(f"{i} {i} 4\n{i} {i % 9 + 1} -1\n" for i in range(1, 10)))
        job._job.extremes(True)  # until it is written
        found = [weft.Matrix.from_file(path, **options) for options in ({}, {"base": 1}, {"base": 0})]
        self.assertEqual([a.shape[0] for a in found], [9, 9, 10])
        self.assertIn("10 rows counted from 0", found[2].remarks[0])
        self.assertEqual(found[0].remarks, found[1].remarks)
        with self.assertRaisesRegex(weft.InputError, "base"):
            weft.Matrix.from_file(path, base=2)
        with self.assertRaisesRegex(weft.InputError, "expected a matrix from a file"):
            weft.Matrix(matrix(), base=1)
        job._job.extremes(True)
        if job.rank == 0:
            os.remove(path)

    def test_new_values_follow_the_order_that_was_given(self):
        A, x = matrix().tocsc(), right_hand_side()
        A.data *= np.random.default_rng(3).random(A.nnz)
        a = weft.Matrix(A)
        wanted = a @ x
        a.update_values(2 * A.data)
        np.testing.assert_array_equal(a @ x, 2 * wanted)
        for data in (A.data[:-1], np.append(A.data, 1.0), np.full(A.nnz, np.nan)):
            with self.assertRaises(weft.InputError):
                a.update_values(data)
        np.testing.assert_array_equal(a @ x, 2 * wanted)
        with self.assertRaisesRegex(weft.InputError, "given as coo"):
            weft.Matrix(A.tocoo()).update_values(A.data)
