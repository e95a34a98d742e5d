"""Tests of eigenvalues and of densities of them."""

import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

from shared_systems import grid_eigenvalues, grid_matrix


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
