"""Builds the extension module against the libweft that pkg-config finds."""

import os
import shlex
import subprocess
import sys

from setuptools import Extension, setup


def pkg_config(option):
    try:
        answer = subprocess.run(["pkg-config", option, "weft"], check=True, capture_output=True,
                                text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit("weft: pkg-config does not find an installed libweft; expected weft.pc in "
                 f"PKG_CONFIG_PATH ({getattr(error, 'stderr', '') or error})")
    return shlex.split(answer.stdout)


def pybind11_flags():
    """Debian's headers are where every compiler looks."""
    try:
        import pybind11
    except ImportError:
        return []
    return ["-I" + pybind11.get_include()]


libraries = pkg_config("--libs")
folders = [os.path.realpath(flag[2:]) for flag in libraries if flag.startswith("-L")]
setup(ext_modules=[Extension(
    "weft._weft",
    ["bindings.cpp", "linked_mpi.cpp"],
    depends=["functions.h", "matrix_binding.h", "mpi_library.h", "solver_binding.h",
             "spectrum_binding.h"],
    language="c++",
    extra_compile_args=["-std=c++20", "-fvisibility=hidden", *pkg_config("--cflags"),
                        *pybind11_flags()],
    extra_link_args=[*libraries, *["-Wl,-rpath," + folder for folder in folders]],
)])
