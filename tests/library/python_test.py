"""Tests of the Python package weft: alone, or on several ranks under mpiexec."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

ROWS = 3000
IS_ALONE = weft.job().size == 1


def matrix():
    return sp.csr_matrix(sp.diags([-0.9, -1, 4.5, -1, -0.9], [-50, -1, 0, 1, 50],
                                  shape=(ROWS, ROWS)))


def right_hand_side():
    return np.random.default_rng(1).random(ROWS)


class Help(unittest.TestCase):
    def test_help_lists_the_options_with_their_defaults(self):
        for text, method in ((weft.solve.__doc__, "auto"), (weft.Solver.__doc__, "cg")):
            self.assertRegex(text, rf"method: .*\|gmres\|.*; default: {method}\n")
            self.assertIn("max_iterations: INT; default: ", text)
            self.assertIn("reuse_preconditioner: True or False; default: false", text)
            self.assertNotIn("    partition:", text)
        self.assertIn("x, report = weft.solve(A, b, tolerance=1e-10)", weft.solve.__doc__)

    def test_options_are_listed_by_the_names_that_a_solver_takes(self):
        options = {each.name: each for each in weft.solver_options()}
        self.assertEqual(options["max_iterations"].values, "INT")
        a = weft.Matrix(matrix())
        for name, option in options.items():
            self.assertTrue(name.isidentifier(), name)
            if option.default:
                weft.Solver(a, **{name: option.default})


class ScipyDropIn(unittest.TestCase):
    def test_functions_of_scipy_solve_with_amg(self):
        from weft import scipy as drop_in

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
        from weft import scipy as drop_in

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
        from weft import scipy as drop_in

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


def grid_matrix():
    """The 5-point stencil on 30 x 30 points."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(30, 30))
    return sp.csr_matrix(sp.kronsum(line, line))


def grid_eigenvalues():
    line = 2 - 2 * np.cos(np.pi * np.arange(1, 31) / 31)
    return np.sort(np.add.outer(line, line).ravel())


class Spectra(unittest.TestCase):
    def test_eigsh_finds_both_ends_in_ascending_order(self):
        A, exact = grid_matrix(), grid_eigenvalues()
        for which, expected in (("SA", exact[:5]), ("LA", exact[-5:])):
            w, v = weft.eigsh(A, k=5, which=which, ncv=48, block=2)
            np.testing.assert_allclose(w, expected, rtol=1e-12)
            self.assertEqual(v.shape, (900, 5))
            self.assertLess(np.linalg.norm(A @ v - v * w, axis=0).max(), 1e-13 * 8)
            np.testing.assert_allclose(v.T @ v, np.identity(5), atol=1e-11)
        np.testing.assert_array_equal(
            weft.eigsh(A, k=5, which="LA", ncv=48, block=2, return_eigenvectors=False), w)

    def test_eigsh_finds_both_ends_and_what_is_near_a_number(self):
        A, exact = grid_matrix(), grid_eigenvalues()
        w, v = weft.eigsh(A, k=5, which="BE", tol=1e-10)
        np.testing.assert_allclose(w, np.r_[exact[:2], exact[-3:]], rtol=1e-9)
        self.assertLess(np.linalg.norm(A @ v - v * w, axis=0).max(), 1e-9)
        nearest = np.sort(exact[np.argsort(abs(exact - 2.503))[:6]])
        w, v = weft.eigsh(A, k=6, sigma=2.503, which="LM", tol=1e-10)
        np.testing.assert_allclose(w, nearest, rtol=1e-9)
        self.assertLess(np.linalg.norm(A @ v - v * w, axis=0).max(), 1e-9)
        found = weft.eigenvalues(A, interval="2.5:2.6")
        np.testing.assert_allclose(found.values, exact[(exact >= 2.5) & (exact <= 2.6)], rtol=1e-9)
        self.assertTrue(found.complete)
        with self.assertRaisesRegex(weft.InputError, "found no eigenvalue"):
            weft.eigenvalues(A, interval="9:10")

    def test_ranks_may_give_their_rows(self):
        A, job = grid_matrix(), weft.job()
        mine = slice(900 * job.rank // job.size, 900 * (job.rank + 1) // job.size)
        found = weft.eigenvalues(A, vectors=True, count=3)
        own = weft.eigenvalues(A[mine], vectors=True, count=3)
        np.testing.assert_array_equal(own.values, found.values)
        np.testing.assert_array_equal(own.vectors, found.vectors[mine])
        self.assertTrue(found.converged and (found.residuals <= 1e-8 * found.norm).all())
        self.assertIsNone(weft.eigenvalues(A).vectors)
        lower = sp.csr_matrix(sp.tril(A))
        np.testing.assert_array_equal(
            weft.eigenvalues(lower, triangle="mirrored", count=3).values, found.values)

    def test_mass_matrices_and_preconditioners_in_memory(self):
        # Bilinear elements on a square: K x M + M x K, and M x M.
        K = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(24, 24))
        M = sp.diags([1 / 6, 2 / 3, 1 / 6], [-1, 0, 1], shape=(24, 24))
        A, B = sp.csr_matrix(sp.kron(K, M) + sp.kron(M, K)), sp.csr_matrix(sp.kron(M, M))
        c = np.cos(np.pi * np.arange(1, 25) / 25)
        exact = np.sort(np.add.outer(6 * (1 - c) / (2 + c), 6 * (1 - c) / (2 + c)).ravel())
        w, v = weft.eigsh(A, k=4, M=B)
        np.testing.assert_allclose(w, exact[:4], rtol=1e-9)
        np.testing.assert_allclose(v.T @ (B @ v), np.identity(4), atol=1e-9)
        X = np.random.default_rng(4).standard_normal((576, 5))
        inverse = sp.diags(1 / A.diagonal())
        for largest, expected in ((False, exact[:5]), (True, exact[:-6:-1])):
            w, v = weft.lobpcg(A, X, B, inverse, tol=1e-8, largest=largest)
            np.testing.assert_allclose(w, expected, rtol=1e-9)
            self.assertLess(np.linalg.norm(A @ v - (B @ v) * w, axis=0).max(), 1e-7)
        good, _ = weft.lobpcg(A, v, B, tol=1e-7, maxiter=0)  # v is a good start
        np.testing.assert_allclose(good, exact[:-6:-1], rtol=1e-8)
        w, _ = weft.lobpcg(A, X, M="jacobi", tol=1e-6, largest=False)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(A.toarray())[:5], rtol=1e-6)
        with self.assertWarnsRegex(UserWarning, "expected at most 1e-09"):
            weft.lobpcg(A, X, tol=1e-9, maxiter=2)
        with self.assertRaisesRegex(weft.InputError, "depend on each other"):
            weft.lobpcg(A, np.ones((576, 2)))
        with self.assertRaisesRegex(weft.InputError, "Y: found a value"):
            weft.lobpcg(A, X, Y=X)
        with self.assertRaisesRegex(weft.InputError, "X: found the shape"):
            weft.lobpcg(A, X[:, 0])
        with self.assertRaisesRegex(weft.InputError, "mass: found a matrix of 30 rows; expected 576"):
            weft.eigsh(A, M=sp.identity(30))

    def test_what_eigsh_does_not_do_is_named(self):
        A = grid_matrix()
        with self.assertRaisesRegex(weft.InputError, "which: found 'LM'; expected 'SA', 'LA' or 'BE'"):
            weft.eigsh(A, which="LM")
        with self.assertRaisesRegex(weft.InputError, "sigma: found 'x'; expected a real number"):
            weft.eigsh(A, sigma="x")
        with self.assertRaisesRegex(weft.InputError, "which: found 'BE' with sigma; expected 'LM'"):
            weft.eigsh(A, which="BE", sigma=1)
        for name in ("v0", "Minv", "OPinv"):
            with self.assertRaisesRegex(weft.InputError, f"{name}: found a value; expected None"):
                weft.eigsh(A, **{name: 1.0})
        with self.assertRaisesRegex(weft.InputError, "mode: found a value"):
            weft.eigsh(A, mode="buckling")
        with self.assertRaisesRegex(weft.InputError, "count: found 901; expected 1 to 112"):
            weft.eigsh(A, k=901)
        with self.assertRaisesRegex(weft.InputError, "option rng: found an unknown name"):
            weft.eigsh(A, rng=1)
        unsymmetric = sp.csr_matrix(A + sp.diags([1.0], [1], shape=(900, 900)))
        with self.assertRaisesRegex(weft.InputError, "expected a symmetric matrix"):
            weft.eigsh(unsymmetric)
        with self.assertRaises(sla.ArpackNoConvergence) as failed:
            weft.eigsh(A, maxiter=0)
        self.assertLess(len(failed.exception.eigenvalues), 6)

    def test_a_density_counts_eigenvalues(self):
        A = grid_matrix()
        found = weft.spectral_density(A, moments=100, vectors=12, interval=(0, 2), points=500)
        self.assertEqual(len(found.energies), 500)
        begin, end = found.interval
        self.assertAlmostEqual(found.density.sum() * (end - begin) / 500, 900, delta=9)
        exact = (grid_eigenvalues() < 2).sum()
        self.assertLessEqual(abs(found.count - exact), found.count_uncertainty)
        unit = np.zeros(900)
        unit[17] = 2
        row = weft.spectral_density(A, unit, moments=20)
        self.assertEqual(row.moments[0], 4)
        self.assertTrue(row.errors is None and row.count is None)
        with self.assertRaisesRegex(weft.InputError, "w: found without v"):
            weft.spectral_density(A, w=unit)
        for interval in ((2, 0), (1, "x"), (1, 2, 3)):
            with self.assertRaisesRegex(weft.InputError, "interval: found '.*'; expected A:B"):
                weft.spectral_density(A, interval=interval)

    def test_eigsh_of_scipy_is_done_by_weft_where_it_can(self):
        from weft import scipy as drop_in

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

    def test_solves_with_functions_where_a_rank_has_no_rows(self):
        job = weft.job()
        count = 10 if job.rank == 0 else 0

        def product(x, y):
            y[:] = 2 * x[:count]

        A = weft.Matrix.from_operator(count, product)
        x, report = weft.solve(A, np.ones(count), preconditioner=lambda r: r / 2, method="cg")
        self.assertTrue(report.converged, report)
        np.testing.assert_array_equal(x, 0.5 * np.ones(count))

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

    def test_threads_take_turns_or_are_refused(self):
        A, b = matrix(), right_hand_side()
        solver = weft.Solver(A, method="cg")
        wanted, found = solver.solve(b).x, []

        def work():
            for _ in range(5):
                try:
                    found.append(np.array_equal(solver.solve(b).x, wanted))
                except weft.Error as error:
                    found.append("another thread" in str(error) and not IS_ALONE)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(found, 15 * [True])

    def test_a_forked_process_gets_an_error_and_ends(self):
        A, b = matrix(), right_hand_side()
        solver = weft.Solver(A, method="cg")
        solver.solve(b)
        child = os.fork()
        if child == 0:
            try:
                solver.solve(b)
            except weft.Error as error:
                del solver
                os._exit(7 if "forked" in str(error) else 8)
            os._exit(9)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        self.assertTrue(solver.solve(b).report.converged)

    def test_auto_suits_a_matrix_that_is_not_symmetric(self):
        A = matrix() + sp.diags([0.5], [3], shape=(ROWS, ROWS))
        report = weft.solve(A, right_hand_side()).report
        self.assertTrue(report.converged, report)
        self.assertIn("not symmetric", report.decisions[0])
        with self.assertRaisesRegex(weft.InputError, "needs a symmetric matrix"):
            weft.solve(A, right_hand_side(), method="cg")

    def test_a_monitor_stops(self):
        solver = weft.Solver(matrix(), method="cg", monitor=lambda k, r: k >= 3)
        self.assertEqual(solver.solve(right_hand_side()).report.status, "stopped")

    def test_a_preconditioner_is_reported_by_its_name(self):
        for name in ("ilu0", "isai"):
            for method in ("auto", "cg"):
                report = weft.solve(matrix(), right_hand_side(), method=method, preconditioner=name)[1]
                self.assertEqual((report.preconditioner, report.status), (name, "converged"))
        solver = weft.Solver(matrix(), "ilu0", tolerance=1e-3)
        self.assertIn("<weft.Solver: preconditioner='ilu0', tolerance=0.001; <weft.Matrix: ", repr(solver))

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


@unittest.skipUnless(IS_ALONE, "one rank")
class OneRank(unittest.TestCase):
    def test_functions_are_operators_and_preconditioners(self):
        A, b = matrix(), right_hand_side()
        operator = sla.LinearOperator(A.shape, matvec=lambda v: A @ v)
        x, report = weft.solve(operator, b, method="cg", preconditioner=lambda r: r / 4.5)
        self.assertTrue(report.converged)
        np.testing.assert_allclose(x, weft.solve(A, b, method="cg").x, rtol=1e-6)

    def test_is_a_preconditioner_of_scipy(self):
        A, b = matrix(), right_hand_side()
        for word in ("jacobi", "schwarz:subdomains=4"):
            x, info = sla.cg(A, b, M=weft.as_preconditioner(A, word))
            self.assertEqual(info, 0)

    def test_exceptions_of_functions_come_out(self):
        def fails(_):
            raise ZeroDivisionError("mine")

        A, b = matrix(), right_hand_side()
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            weft.solve(A, b, method="cg", preconditioner=fails)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            weft.solve(sla.LinearOperator(A.shape, matvec=fails), b, method="cg")
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            weft.solve(A, b, method="cg", monitor=lambda k, r: fails(r))

    def test_ctrl_c_ends_a_solve_and_other_threads_run_meanwhile(self):
        a = weft.Matrix.generate("poisson3d:60")
        # Python leaves the signal alone where a shell has started it in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            weft.solve(a, a.right_hand_side(), method="cg", tolerance=0, max_iterations=10**9,
                       max_seconds=60)

    def test_arrays_that_a_function_keeps_stay(self):
        kept, copies = [], []

        def keeps(r):
            kept.append(r)
            copies.append(r.copy())
            return r / 4.5

        weft.solve(matrix(), right_hand_side(), method="cg", preconditioner=keeps)
        self.assertTrue(kept)
        for array, copy in zip(kept, copies):
            np.testing.assert_array_equal(array, copy)

    def run_python(self, code, **environment):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=60)
        return done.returncode, done.stdout.strip(), done.stderr

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "several processors")
    def test_import_leaves_the_mask_and_heeds_the_number_of_threads(self):
        code = ("import os; before = os.sched_getaffinity(0); import weft; job = weft.job(); "
                "print(os.sched_getaffinity(0) == before, job.thread_count, job.findings())")
        self.assertIn("True", self.run_python(code, OMP_PROC_BIND="true")[1])
        self.assertRegex(self.run_python(code, OMP_NUM_THREADS="1")[1], "True 1 .*OMP_NUM_THREADS=1")

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1 and IS_ALONE, "several processors")
    def test_few_entries_of_a_process_alone_have_one_thread(self):
        code = ("import weft, scipy.sparse as sp; few, many = sp.eye(1000, format='csr'), "
                "sp.eye(200000, format='csr'); print(*(weft.Matrix(each).job.thread_count for each in "
                "(few, few.toarray()[:99, :99], many)), weft.Matrix(few, weft.job()).job.thread_count)")
        several = len(os.sched_getaffinity(0))
        alone = {name: value for name, value in os.environ.items()
                 if not name.startswith(("OMP_", "PMI", "OMPI_"))}
        for named, few in (({}, 1), ({"OMP_NUM_THREADS": str(several)}, several)):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**alone, **named}, timeout=60)
            self.assertEqual((done.stdout.split(), done.stderr),
                             ([str(each) for each in (few, few, several, several)], ""))

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "several processors")
    def test_masks_are_kept_and_what_narrows_them_is_named(self):
        pus = sorted(os.sched_getaffinity(0))
        code = ("import os; {before}; import weft; job = weft.Job({options}); "
                "print(job.thread_count, len(os.sched_getaffinity(0)), job.findings())")

        def run(before="pass", options="", **environment):
            return self.run_python(code.format(before=before, options=options), **environment)

        narrow = f"os.sched_setaffinity(0, [{pus[0]}])"
        self.assertRegex(run(OMP_PLACES="{%d}" % pus[1])[1], rf"^1 {len(pus)} .*OMP_PLACES=")
        self.assertRegex(run(narrow)[1], "^1 1 .*taskset")
        self.assertRegex(run(narrow, "pinning='pin', threads=2")[1], "^2 1 .*--pin-beyond-mask")
        self.assertRegex(run(narrow, "pinning='pin', pin_beyond_mask=True")[1],
                         "^[0-9]+ 1 .*--pin-beyond-mask")
        self.assertIn("InputError: pin_beyond_mask", run(narrow, "pin_beyond_mask=True")[2])

    def test_one_process_of_several_is_an_error(self):
        code, _, errors = self.run_python("import weft; weft.job()", OMPI_COMM_WORLD_SIZE="2")
        self.assertEqual(code, 1)
        self.assertIn("OMPI_COMM_WORLD_SIZE=2", errors)
        code, _, errors = self.run_python("import weft; weft.Job(allow_singletons=True)",
                                          OMPI_COMM_WORLD_SIZE="2")
        self.assertEqual((code, errors), (0, ""))

    def test_a_second_mpi_library_of_the_same_version_is_an_error_that_names_both_files(self):
        file = weft._weft.mpi_library()[1]
        # Open MPI's finds its parts beside itself.
        if "MPICH" not in weft._weft.mpi_library()[0]:
            self.skipTest("a library that is one file")
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(file, folder)
            code = ("import ctypes, weft; from weft import _weft; "
                    f"other = ctypes.CDLL({copy!r}); job = _weft.Job(None, 1, 'keep', False, False, False); "
                    "other.MPI_Init(None, None); "
                    # MPI_COMM_WORLD of both.
                    "_weft.Job(0x44000000, 1, 'keep', False, False, False)")
            exit_code, _, errors = self.run_python(code)
        self.assertEqual(exit_code, 1)
        last = errors.strip().splitlines()[-1]
        self.assertIn("weft.Error: found two MPI libraries at work", last.replace("_weft.", "weft."))
        self.assertIn(file, last)
        self.assertIn(os.path.realpath(copy), last)

    def test_names_its_mpi_library(self):
        library = weft.mpi_library()
        self.assertIn(library.interface, ("linked", "none", "mpich", "openmpi", "mpiabi"))
        self.assertTrue(library.version and library.reason, library)
        self.assertEqual(library.file == "", library.interface == "none")

    def test_reads_a_report(self):
        report = weft.solve(matrix(), right_hand_side()).report
        self.assertIn("converged after", repr(report))
        self.assertIn('"status":"converged"', report.json)


@unittest.skipUnless(IS_ALONE and shutil.which("mpiexec.mpich") and
                     "MPICH" in weft._weft.mpi_library()[0], "MPICH's launcher")
class RanksThatLeave(unittest.TestCase):
    """Rank 1 of 2 leaves, and rank 0 goes on: the job ends."""

    def run_ranks(self, before, after, ends=True):
        """`before` and `after`: what ranks do before and after `solver` is there."""
        code = ("import os, sys, numpy as np, scipy.sparse as sp, weft\n"
                "A, b = sp.identity(50, format='csr') * 4, np.ones(50)\n"
                "rank = int(os.environ['PMI_RANK'])\n"
                f"{before}\n"
                "solver = weft.Solver(A, method='cg')\n"
                f"{after}\n"
                # In one piece, which output of the other rank does not cut.
                "os.write(1, b'%d %d\\n' % (rank, solver.solve(b).report.converged))\n")
        done = subprocess.run(["mpiexec.mpich", "-n", "2", sys.executable, "-c", code],
                              capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
        if ends:
            self.assertNotEqual(done.returncode, 0, done)
        return done

    def check_noticed(self, before, after, doing):
        done = self.run_ranks(before, after)
        self.assertEqual(done.stdout.strip(), "", done)
        self.assertIn(f"rank 1 has left the job, and rank 0 would wait for it in {doing}",
                      done.stderr)

    def test_by_exit_before_or_after_the_first_call(self):
        for code in (0, 3):
            leaves = f"if rank == 1: sys.exit({code})"
            self.check_noticed(leaves, "", "making a job")
            self.check_noticed("", leaves, "solve")

    def test_by_an_exception_before_the_first_call(self):
        self.check_noticed("if rank == 1: raise ValueError('mine')", "", "making a job")

    def test_by_an_exception_after_it(self):
        done = self.run_ranks("", "if rank == 1: raise ValueError('mine')")
        self.assertIn("ValueError: mine", done.stderr)

    def test_by_calls_that_it_does_not_make(self):
        self.check_noticed("", "if rank == 0: solver.solve(b); solver.matrix @ b\n"
                           "else: solver.solve(b); sys.exit()", "a product")

    def test_by_the_end_of_its_job(self):
        self.check_noticed("", "if rank == 1: del solver; weft.jobs._default_job = None; sys.exit()",
                           "solve")

    def test_and_the_error_may_be_caught(self):
        done = self.run_ranks("", "if rank == 1: sys.exit()\n"
                              "for i in range(2):\n"
                              "    try: solver.solve(b)\n"
                              "    except weft.Error as error: print(error)\n"
                              "sys.exit()", ends=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("rank 1 has left"), 2)

    def test_is_nothing_where_all_leave(self):
        done = self.run_ranks("sys.exit()", "", ends=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.run_ranks("", "", ends=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 1", "1 1"])


if __name__ == "__main__":
    unittest.main()
