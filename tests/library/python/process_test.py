"""Tests of the process: its threads, forks, signals, masks, environment and MPI library."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import weft

from shared_systems import IS_ALONE, matrix, right_hand_side


class Process(unittest.TestCase):
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

    def test_names_its_mpi_library(self):
        library = weft.mpi_library()
        self.assertIn(library.interface, ("linked", "none", "mpich", "openmpi", "mpiabi"))
        self.assertTrue(library.version and library.reason, library)
        self.assertEqual(library.file == "", library.interface == "none")


@unittest.skipUnless(IS_ALONE, "one rank")
class ProcessAlone(unittest.TestCase):
    def run_python(self, code, **environment):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=60)
        return done.returncode, done.stdout.strip(), done.stderr

    def test_ctrl_c_ends_a_solve_and_other_threads_run_meanwhile(self):
        a = weft.Matrix.generate("poisson3d:60")
        # Python leaves the signal alone where a shell has started it in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            weft.solve(a, a.right_hand_side(), method="cg", tolerance=0, max_iterations=10**9,
                       max_seconds=60)

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
