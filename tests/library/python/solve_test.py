"""Tests of solves, with one right-hand side and with several."""

import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

from shared_systems import IS_ALONE, ROWS, matrix, right_hand_side


class Solve(unittest.TestCase):
    def test_vectors_may_be_arrays(self):
        grid = sp.diags([-1, 2.5, -1], [-1, 0, 1], shape=(400, 400))
        A = sp.csr_matrix(sp.kron(grid, sp.identity(2)))
        b = np.ones(800)
        places = np.stack([np.arange(400.0), np.arange(400.0) ** 2 % 7], axis=1)
        for vectors in ({"near_null": np.ones(800)}, {"coordinates": places},
                        {"near_null": np.stack([np.ones(800), np.arange(800) % 2.0], axis=1),
                         "block_size": 2}, {"coordinates": np.repeat(places, 2, axis=0)}):
            x, report = weft.solve(A, b, method="cg", preconditioner="amg", **vectors)
            self.assertTrue(report.converged)
            self.assertLess(np.linalg.norm(A @ x - b), 1e-6)
        singular = sp.csr_matrix(sp.diags([-np.ones(99), np.r_[1, np.full(98, 2), 1], -np.ones(99)],
                                          [-1, 0, 1]))
        b = singular @ np.arange(100.0)
        report = weft.solve(singular, b, method="cg", null_space=np.ones(100))[1]
        self.assertEqual(report.null_space, "an array")
        self.assertTrue(report.converged)
        with self.assertRaisesRegex(weft.InputError, "near_null: found the shape"):
            weft.solve(A, np.ones(800), preconditioner="amg", near_null=np.ones(7))
        with self.assertRaisesRegex(weft.InputError, "beside a function"):
            weft.solve(A, np.ones(800), preconditioner=lambda r: r, null_space=np.ones(800))

    def test_one_rank_may_have_all_rows(self):
        A, b = matrix(), right_hand_side()
        mine = slice(0, ROWS if weft.job().rank == 0 else 0)
        options = {"method": "cg", "tolerance": 1e-10}
        whole = weft.solve(A, b, **options).x
        np.testing.assert_array_equal(weft.solve(A[mine], b[mine], **options).x, whole[mine])

    def test_solves_as_scipy_does(self):
        A, b = matrix(), right_hand_side()
        x, report = weft.solve(A, b, tolerance=1e-12)
        self.assertTrue(report.converged, report)
        np.testing.assert_allclose(x, sla.spsolve(A.tocsc(), b), rtol=1e-9)
        self.assertIn(report.matrix_format, report.json)
        self.assertIsInstance(report.product_seconds, dict)

    def test_the_same_matrix_is_not_set_up_a_third_time(self):
        A, b = matrix(), right_hand_side()

        def set_up_seconds(A, **options):
            x, report = weft.solve(A, b, **options)
            self.assertLessEqual(np.linalg.norm(b - A @ x), 1e-7 * np.linalg.norm(b))
            return report.setup_seconds

        first, second, third = (weft.solve(A, b) for _ in range(3))
        self.assertTrue(np.array_equal(first.x, second.x) and np.array_equal(first.x, third.x))
        self.assertGreater(second.report.setup_seconds, 0)
        if IS_ALONE:
            self.assertEqual(third.report.setup_seconds, 0)
        A.data[7] *= 1.5  # in place
        for _ in range(2):
            again = [set_up_seconds(A, method="bicgstab") for _ in range(3)]
            self.assertEqual((again[0] > 0, again[2] > 0), (True, not IS_ALONE))
            A.data[9] *= 1.5
        self.assertGreater(set_up_seconds(A, method="bicgstab", tolerance=1e-9), 0)
        self.assertGreater(set_up_seconds(A.copy(), method="bicgstab", tolerance=1e-9), 0)

    def test_rows_of_very_different_scale(self):
        A = matrix().tolil()
        A[::100, ::100] += 1e20 * sp.identity(ROWS // 100)
        A = A.tocsr()
        wanted = 1 + right_hand_side()
        b = A @ wanted
        options = {"method": "cg", "preconditioner": "jacobi"}
        hidden = weft.solve(A, b, scale="none", **options)
        self.assertFalse(hidden.report.converged)
        self.assertIn("says nothing about most rows", hidden.report.explanation)
        self.assertGreater(hidden.report.scaled_residual, 1e-3)
        for choice in [{"scale": "rows", **options}, {"method": "auto"}]:
            x, report = weft.solve(A, b, **choice)
            self.assertTrue(report.converged, report)
            self.assertLess(report.scaled_residual, 1e-8)
            np.testing.assert_allclose(x, wanted, rtol=1e-6)
        with self.assertRaisesRegex(ValueError, "scale"):
            weft.solve(A, b, scale="columns")

    def test_takes_the_rows_of_each_rank(self):
        A, b = matrix(), right_hand_side()
        job = weft.job()
        first, last = ROWS * job.rank // job.size, ROWS * (job.rank + 1) // job.size
        options = {"method": "cg", "preconditioner": "jacobi", "tolerance": 1e-10}
        whole = weft.solve(A, b, **options).x
        if not IS_ALONE:
            own = weft.solve(A[first:last], b[first:last], **options).x
            np.testing.assert_array_equal(own, whole[first:last])

    def test_starts_from_a_guess_and_keeps_a_history(self):
        A, b = matrix(), right_hand_side()
        solver = weft.Solver(A, method="cg", history=True)
        x, report = solver.solve(b)
        self.assertEqual(len(report.history), report.iterations)
        self.assertEqual(solver.solve(b, x).report.iterations, 0)

    def test_several_right_hand_sides_have_the_bits_of_each(self):
        A = matrix()
        B = np.random.default_rng(2).random((ROWS, 5))
        solver = weft.Solver(A, method="cg", preconditioner="jacobi")
        X, reports = solver.solve(B)
        products = solver.matrix @ B
        for k, report in enumerate(reports):
            alone = solver.solve(B[:, k])
            np.testing.assert_array_equal(X[:, k], alone.x)
            self.assertEqual(report.iterations, alone.report.iterations)
            np.testing.assert_array_equal(products[:, k], solver.matrix @ B[:, k])
        self.assertEqual(solver.solve(B, X).reports[0].iterations, 0)
        with self.assertRaises(ValueError):
            solver.solve(B[:-1])

    def test_a_block_of_one_stays_a_block(self):
        A, b = matrix(), right_hand_side()
        solver = weft.Solver(A, method="cg")
        X, reports = solver.solve(b.reshape(-1, 1))
        self.assertEqual((X.shape, len(reports)), ((ROWS, 1), 1))
        np.testing.assert_array_equal(X[:, 0], solver.solve(b).x)
        self.assertEqual((solver.matrix @ X).shape, (ROWS, 1))
        # Sparse right-hand sides are taken as dense ones.
        X, reports = solver.solve(sp.csc_matrix(b.reshape(-1, 1)))
        np.testing.assert_array_equal(X[:, 0], solver.solve(b).x)

    def test_auto_suits_a_matrix_that_is_not_symmetric(self):
        A = matrix() + sp.diags([0.5], [3], shape=(ROWS, ROWS))
        report = weft.solve(A, right_hand_side()).report
        self.assertTrue(report.converged, report)
        self.assertIn("not symmetric", report.decisions[0])
        with self.assertRaisesRegex(weft.InputError, "needs a symmetric matrix"):
            weft.solve(A, right_hand_side(), method="cg")

    def test_a_preconditioner_is_reported_by_its_name(self):
        for name in ("ilu0", "isai"):
            for method in ("auto", "cg"):
                report = weft.solve(matrix(), right_hand_side(), method=method, preconditioner=name)[1]
                self.assertEqual((report.preconditioner, report.status), (name, "converged"))
        solver = weft.Solver(matrix(), "ilu0", tolerance=1e-3)
        self.assertIn("<weft.Solver: preconditioner='ilu0', tolerance=0.001; <weft.Matrix: ", repr(solver))

    def test_reads_a_report(self):
        report = weft.solve(matrix(), right_hand_side()).report
        self.assertIn("converged after", repr(report))
        self.assertIn('"status":"converged"', report.json)
