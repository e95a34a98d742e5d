"""Tests of a rank that leaves a job of two."""

import shutil
import subprocess
import sys
import unittest

import weft

from shared_systems import IS_ALONE


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
