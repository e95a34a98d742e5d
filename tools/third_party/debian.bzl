"""Repositories made of what Debian's packages have installed."""

def _debian_rules_cc(repository_ctx):
    """Copies Debian's rules_cc and replaces the one function that its Bazel does not have."""
    for entry in repository_ctx.path("/usr/share/bazel/rules/cc").readdir():
        if entry.basename != "cc":
            repository_ctx.symlink(entry, entry.basename)
    copy = repository_ctx.execute(["cp", "-rL", "/usr/share/bazel/rules/cc/cc", "cc"])
    if copy.return_code != 0:
        fail("rules_cc is missing; run tools/setup: " + copy.stderr)
    for name in ["compiler_flag.bzl", "cc_flags_supplier.bzl"]:
        path = "cc/private/rules_impl/" + name
        text = repository_ctx.read(path)
        text = text.replace(", \"use_cpp_toolchain\")", ")")
        text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
        repository_ctx.delete(path)
        repository_ctx.file(path, text, executable = False)

debian_rules_cc = repository_rule(implementation = _debian_rules_cc, local = True)

def _empty_coverage_tools(repository_ctx):
    repository_ctx.file("BUILD", """
filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])
""")

empty_coverage_tools = repository_rule(implementation = _empty_coverage_tools)

# Libraries with headers directly in /usr/include, which every compiler searches: name -> link flags.
_PLAIN = {
    "hwloc": ["-lhwloc"],
    "catch2": [],
    "catch2_main": ["-lCatch2WithMain"],
    "cli11": [],
    "nlohmann_json": [],
    "fmt": ["-lfmt"],
    "isal": ["-lisal"],
    "zlib": ["-lz"],
    "likwid": ["-llikwid"],
    "metis": ["-lmetis"],
    "xxhash": [],
}

# Libraries with a header folder of their own: name -> (possible folders, link flags, defines).
_WITH_FOLDER = {
    "mpich": (["/usr/include/{triple}/mpich"], ["-lmpich"], []),
    # MPI and OpenSHMEM, without the C++ functions that left the standard.
    "openmpi": (
        ["/usr/lib/{triple}/openmpi/include"],
        ["-L/usr/lib/{triple}/openmpi/lib", "-loshmem", "-lmpi", "-lopen-rte", "-lopen-pal"],
        ["OMPI_SKIP_MPICXX"],
    ),
    "cholmod": (["/usr/include/suitesparse"], ["-lcholmod", "-lsuitesparseconfig"], []),
    # Without MPI: ranks read and write past it.
    "hdf5": (["/usr/include/hdf5/serial"], ["-L/usr/lib/{triple}/hdf5/serial", "-lhdf5"], []),
    "klu": (["/usr/include/suitesparse"], ["-lklu"], []),
    "eigen": (["/usr/include/eigen3"], [], []),
}

_TARGET = """
cc_library(
    name = "{name}",
    hdrs = glob(["include/{name}/**"], allow_empty = True),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _system_libraries(repository_ctx):
    triple = repository_ctx.execute(["/usr/bin/gcc", "-dumpmachine"]).stdout.strip()
    build = "load(\"@rules_cc//cc:defs.bzl\", \"cc_library\")\n"
    for name, linkopts in _PLAIN.items():
        build += _TARGET.format(name = name, defines = [], includes = [], linkopts = linkopts)
    for name, (folders, linkopts, defines) in _WITH_FOLDER.items():
        for folder in folders:
            path = repository_ctx.path(folder.format(triple = triple))
            if not path.exists:
                continue  # The linker or the compiler will name it; only those who use it need it.
            repository_ctx.symlink(path, "include/" + name)
        build += _TARGET.format(
            name = name,
            defines = defines,
            includes = ["include/" + name],
            linkopts = [option.format(triple = triple) for option in linkopts],
        )
    repository_ctx.file("BUILD", build)

system_libraries = repository_rule(implementation = _system_libraries, local = True)
