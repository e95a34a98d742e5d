"""Tests of what the package says about its options."""

import unittest

import weft

from shared_systems import matrix


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
