"""Tests of weft.scipy, whose functions stand for those of SciPy."""

import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from weft import scipy as drop_in

from shared_systems import ROWS, grid_eigenvalues, grid_matrix, matrix, right_hand_side


class ScipyDropIn(unittest.TestCase):
    def test_functions_of_scipy_solve_with_amg(self):
        A = sp.csr_matrix(sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(ROWS, ROWS)))
        b = right_hand_side()
        for function in (drop_in.cg, drop_in.gmres, drop_in.bicgstab, drop_in.minres):
            x, info = function(A, b.reshape(-1, 1), rtol=1e-8)
            self.assertEqual((x.shape, x.dtype, info), ((ROWS,), np.float64, 0))
            self.assertLessEqual(np.linalg.norm(b - A @ x), 1e-8 * np.linalg.norm(b))
            report = drop_in.last_report()
            self.assertEqual((report.by, report.preconditioner), ("weft", "amg"))
        x, info = drop_in.cg(A.astype(np.float32), b.astype(np.float32), M=None, maxiter=3)
        self.assertEqual((x.dtype, info), (np.float32, 3))
        self.assertEqual(drop_in.last_report().preconditioner, "none")

    def test_matrices_without_an_array_and_complex_numbers(self):
        A = sp.csr_matrix(sp.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(ROWS, ROWS)))
        b = right_hand_side()
        for name in ("lil", "dok"):
            x, info = drop_in.cg(A.asformat(name), b)
            self.assertEqual((info, drop_in.last_report().by), (0, "weft"))
        right = b + 1j * b[::-1]
        x, info = drop_in.cg(A, right)
        self.assertEqual((info, x.dtype, drop_in.last_report().by), (0, np.complex128, "SciPy"))
        self.assertLess(np.linalg.norm(right - A @ x), 2e-5 * np.linalg.norm(right))
        values = drop_in.eigsh(A, 3, which="SA", return_eigenvectors=False)
        self.assertLess(values[2], values[0])  # as SciPy's

    def test_what_weft_does_not_do_scipy_does(self):
        A, b = matrix(), right_hand_side()
        seen = []
        x, info = drop_in.cg(A, b, callback=seen.append)
        self.assertTrue(info == 0 and len(seen) > 0)
        self.assertEqual((drop_in.last_report().by, drop_in.last_report().preconditioner),
                         ("SciPy", "amg"))
        x, info = drop_in.gmres(A.astype(complex), b)
        self.assertTrue(info == 0 and x.dtype == complex)
        small = matrix()[:50, :50]
        np.testing.assert_array_equal(drop_in.spsolve(small, np.ones(50)), sla.spsolve(small, np.ones(50)))
        with self.assertRaises(ValueError):
            drop_in.cg(A, np.ones(7))
        self.assertIs(drop_in.splu, sla.splu)

    def test_eigsh_of_scipy_is_done_by_weft_where_it_can(self):
        A, exact = grid_matrix(), grid_eigenvalues()
        w, v = drop_in.eigsh(A, 4, which="SA", tol=1e-6)
        self.assertEqual(drop_in.last_report().by, "weft", drop_in.last_report())
        np.testing.assert_allclose(w, exact[:4], rtol=1e-12)
        self.assertEqual(v.shape, (900, 4))
        w = drop_in.eigsh(A.astype(np.float32), 4, which="LA", return_eigenvectors=False)
        self.assertEqual((w.dtype, drop_in.last_report().by), (np.float32, "weft"))
        for special in ({"which": "LM"}, {"which": "SA", "v0": np.ones(900)},
                        {"which": "LM", "sigma": 0.0}):
            w = drop_in.eigsh(A, 4, return_eigenvectors=False, **special)
            self.assertEqual((len(w), drop_in.last_report().by), (4, "SciPy"))
        drop_in.eigsh(A.astype(complex), 2, which="SA")
        self.assertEqual(drop_in.last_report().by, "SciPy")
        with self.assertRaises(TypeError):
            drop_in.eigsh(A, 900, which="SA")
