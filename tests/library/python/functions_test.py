"""Tests of functions as operators, preconditioners and monitors."""

import unittest

import numpy as np
import scipy.sparse.linalg as sla

import weft

from shared_systems import IS_ALONE, matrix, right_hand_side


class Functions(unittest.TestCase):
    def test_solves_with_functions_where_a_rank_has_no_rows(self):
        job = weft.job()
        count = 10 if job.rank == 0 else 0

        def product(x, y):
            y[:] = 2 * x[:count]

        A = weft.Matrix.from_operator(count, product)
        x, report = weft.solve(A, np.ones(count), preconditioner=lambda r: r / 2, method="cg")
        self.assertTrue(report.converged, report)
        np.testing.assert_array_equal(x, 0.5 * np.ones(count))

    def test_a_monitor_stops(self):
        solver = weft.Solver(matrix(), method="cg", monitor=lambda k, r: k >= 3)
        self.assertEqual(solver.solve(right_hand_side()).report.status, "stopped")


@unittest.skipUnless(IS_ALONE, "one rank")
class FunctionsOnOneRank(unittest.TestCase):
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
