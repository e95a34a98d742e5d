"""Runs the tests of the Python package weft: alone, or on several ranks under mpiexec, in the same order
on each. Arguments are those of unittest: -k spectrum_test runs those of one file.
"""

import pathlib
import sys
import unittest

folder = pathlib.Path(__file__).resolve().parent
unittest.main(module=None, argv=[sys.argv[0], "discover", f"--start-directory={folder}",
                                 "--pattern=*_test.py", *sys.argv[1:]])
