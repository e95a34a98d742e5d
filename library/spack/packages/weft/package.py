"""Spack recipe of weft: `spack repo add library/spack`, then `spack install weft`."""

from spack.package import *


class Weft(CMakePackage):
    """Solves large sparse linear systems with MPI, threads and a communication thread per rank."""

    license("BSD-3-Clause")

    version("0.2.0")

    variant("program", default=True, description="Build the program weft")
    variant("python", default=False, description="Build the Python package weft")
    variant("shared", default=True, description="Build libweft as a shared library")
    variant("metis", default=True, description="Cut graphs with METIS")
    variant("cholmod", default=False,
            description="Factor with CHOLMOD, whose supernodal part is under the GPL")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build", when="+program")
    depends_on("mpi")
    depends_on("hwloc@2:")
    depends_on("zlib-api")
    depends_on("isa-l")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("xxhash")
    depends_on("cli11@2:", when="+program")
    depends_on("eigen@3.4:", when="~cholmod")
    depends_on("suite-sparse", when="+cholmod")
    depends_on("metis@5:", when="+metis")
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pybind11@2.10:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-scipy", type=("build", "run"))

    conflicts("%gcc@:11", msg="weft needs C++20 as of GCC 12")
    conflicts("%clang@:15", msg="weft needs C++20 as of Clang 16")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("WEFT_BUILD_PROGRAM", "program"),
            self.define_from_variant("WEFT_BUILD_PYTHON", "python"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("WEFT_WITH_METIS", "metis"),
            self.define_from_variant("WEFT_WITH_CHOLMOD", "cholmod"),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
        ]
        if self.spec.satisfies("+python"):
            arguments.append(self.define("WEFT_PYTHON_DIR", python_platlib))
        return arguments
