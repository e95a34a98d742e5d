"""The rules of this repository: libraries, serial tests and tests with several ranks."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//tools/build_defs:rooms.bzl", "rooms_above")

def _header_sources_impl(ctx):
    sources = []
    for header in ctx.files.headers:
        source = ctx.actions.declare_file("{}/{}.cpp".format(ctx.label.name, header.basename))
        ctx.actions.write(source, "#include \"{0}\"\n#include \"{0}\"\n".format(header.short_path))
        sources.append(source)
    return [DefaultInfo(files = depset(sources))]

_header_sources = rule(
    implementation = _header_sources_impl,
    attrs = {"headers": attr.label_list(allow_files = True, mandatory = True)},
)

def _one_source_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cpp")
    ctx.actions.write(source, "".join(["#include \"{}\"\n".format(file.short_path) for file in ctx.files.sources]))
    return [DefaultInfo(files = depset([source]))]

_one_source = rule(
    implementation = _one_source_impl,
    attrs = {"sources": attr.label_list(allow_files = True, mandatory = True)},
)

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    action = "c++-compile"
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = variables,
    )
    text = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(text, "".join(["#include <{}>\n".format(header) for header in ctx.attr.headers]))
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")

    includes = []
    for header in ctx.attr.headers:
        includes += ["-include", header]

    # The main file has the same name in every sandbox, because Clang looks for it again; it is empty.
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = options + ["-x", "c++-header"] + includes + ["-c", "/usr/include/stdc-predef.h", "-o", compiled.path],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset([ctx.file._header_packages], transitive = [toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
    )
    return [DefaultInfo(files = depset([text, compiled]))]

_precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "headers": attr.string_list(mandatory = True),
        "copts": attr.string_list(),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        # An upgrade compiles the headers again, also those that the disk cache of another system has.
        "_header_packages": attr.label(
            default = "//tools/build_defs:header_packages.txt",
            allow_single_file = True,
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

_SANITIZER = "//tools/build_defs:with_sanitizer"

def early_headers(name, headers, copts):
    """Headers of the system, compiled once for all sources that depend on it and have its options.

    Args:
      name: of a library in tools/build_defs.
      headers: a source that needs them includes them all the same.
      copts: as the sources have them.
    """
    _precompiled_header(
        name = name + "_header",
        headers = headers,
        # A sixth of the time to compile a source of tools/ is for templates of these headers.
        copts = copts + select({
            _SANITIZER: ["-fpch-instantiate-templates"],
            "//conditions:default": [],
        }),
    )
    cc_library(
        name = name,
        textual_hdrs = [name + "_header"],
        visibility = ["//visibility:public"],
    )

def _early(name):
    return ["-include", "$(BINDIR)/tools/build_defs/{}_header.h".format(name)]

# Tests compile in a third of the time so, and none is where time is spent.
TEST_COPTS = select({
    _SANITIZER: ["-O0"],
    "//conditions:default": ["-O1", "-g0"],
})
_LIBRARY_COPTS = select({
    _SANITIZER: [],
    "//conditions:default": ["-O1", "-g0"],
})
_TEST_COPTS = TEST_COPTS + _early("catch2")

# Of sources that compile as one: a local name may be that of another source, and GCC takes their
# types to be of a header.
_TOGETHER_COPTS = ["-Wno-shadow", "-Wshadow=local", "-Wno-subobject-linkage"]
_TEST_DEPS = ["//tools/build_defs:catch2"]
_SYSTEM_TEST_COPTS = TEST_COPTS + _early("catch2_and_json")
_SYSTEM_TEST_DEPS = ["//tools/build_defs:catch2_and_json"]

# Rooms in which tests spend hardly any time. Under the sanitizers they compile without optimization,
# in less than half of the time.
_QUICK_ROOMS = [
    "comm_thread/job",
    "comm_thread/mpi",
    "comm_thread/placement",
    "comm_thread/probe",
    "library/api",
    "library/settings",
    "library/solve",
    "library/state",
    "solver/checkpoint",
    "solver/choice",
    "solver/multigrid/couplings",
    "solver/precondition",
    "solver/report",
    "spmv/arrays",
    "spmv/entries",
    "spmv/files",
    "spmv/formats",
    "spmv/order",
    "spmv/problems",
]

def _early_copts(name):
    """Under the sanitizers only: elsewhere a source compiles with what it includes itself."""
    return select({
        _SANITIZER: _early(name),
        "//conditions:default": [],
    })

def _early_deps(name):
    return select({
        _SANITIZER: ["//tools/build_defs:" + name],
        "//conditions:default": [],
    })

def _headers_alone(library, headers, testonly):
    """Compiles each header that has no source alone, twice in one file."""
    sources = native.glob(["*.cpp"])
    headers = [header for header in headers if header.replace(".h", ".cpp") not in sources]
    if not headers:
        return
    _header_sources(
        name = library + "_headers_alone",
        headers = headers,
        tags = ["header_check"],
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = library + "_header_check",
        srcs = [library + "_headers_alone"],
        copts = ["-O0", "-g0"],
        linkstatic = True,
        tags = ["header_check"],
        testonly = testonly,
        visibility = ["//visibility:private"],
        deps = [library],
    )

def weft_room(deps, srcs = None, apart = [], private = [], visibility = [], **kwargs):
    """All of a folder as one library of the folder's name, which the rooms above may use.

    Its sources compile as one, because most of their time goes into templates of the same headers.

    Args:
      deps: of all its sources and headers.
      srcs: its sources, where they are not all of the folder but X_missing.cpp, which takes the place
        of X.cpp where a library is missing.
      apart: those of the sources that compile by themselves.
      private: headers, without ending, that only this room and tests may include; tools/check_layers
        reads it.
      visibility: beyond the rooms above and the tests.
      **kwargs: anything else that cc_library knows.
    """
    name = native.package_name().split("/")[-1]
    headers = native.glob(["*.h"])
    if srcs == None:
        srcs = native.glob(["*.cpp"], exclude = apart + ["*_missing.cpp"])
    early = "standard"
    level = []
    if native.package_name().startswith("tools"):
        early = "json"
    elif native.package_name() in _QUICK_ROOMS:
        early = "standard_unoptimized"
        level = select({
            _SANITIZER: ["-O0"],
            "//conditions:default": [],
        })
    _one_source(
        name = name + "_source",
        sources = srcs,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + "_source"] + apart,
        hdrs = headers,
        textual_hdrs = srcs,
        linkstatic = True,
        copts = _TOGETHER_COPTS + level + _early_copts(early),
        deps = deps + _early_deps(early),
        visibility = visibility + rooms_above(native.package_name()) + ["//tests:__subpackages__"],
        **kwargs
    )
    _headers_alone(name, headers, testonly = False)

def weft_cc_library(name, parts = [], deps = [], **kwargs):
    """A cc_library of tests: NAME.h, and NAME.cpp where there is one.

    Args:
      name: of the header and the source, without their endings.
      parts: names of headers and sources that only this library uses.
      deps: as in cc_library.
      **kwargs: anything else that cc_library knows.
    """
    headers = native.glob([part + ".h" for part in [name] + parts])
    cc_library(
        name = name,
        testonly = True,
        srcs = native.glob([part + ".cpp" for part in [name] + parts]),
        hdrs = headers,
        linkstatic = True,
        copts = _LIBRARY_COPTS + _early_copts("standard"),
        deps = deps + _early_deps("standard"),
        visibility = ["//tests:__subpackages__"],
        **kwargs
    )
    _headers_alone(name, headers, testonly = True)

def _together(name, parts):
    """Sources of a test that compile as one: the names of the target's source, library and options."""
    if not parts:
        return [name + ".cpp"], [], []
    sources = [part + ".cpp" for part in parts]
    _one_source(
        name = name + "_source",
        sources = sources,
        testonly = True,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name + "_parts",
        testonly = True,
        textual_hdrs = sources,
        visibility = ["//visibility:private"],
    )
    return [name + "_source"], [name + "_parts"], _TOGETHER_COPTS

def weft_cc_test(name, srcs = None, parts = [], deps = [], tags = [], size = "small", copts = None, **kwargs):
    """A serial Catch2 test.

    Args:
      name: of the test.
      srcs: NAME.cpp.
      parts: instead of srcs, names of several sources that compile as one and run as one test: to
        start a program and to read its headers costs more than most cases. What two of them have in
        unnamed namespaces must have unlike names.
      deps: libraries.
      tags: as in cc_test.
      size: as in cc_test.
      copts: where it takes long and is to be optimized in every way.
      **kwargs: anything else that cc_test knows.
    """
    sources, libraries, together_copts = _together(name, parts)
    cc_test(
        name = name,
        size = size,
        srcs = srcs or sources,
        copts = (copts or _TEST_COPTS) + together_copts,
        linkstatic = True,
        tags = ["serial"] + tags,
        deps = deps + libraries + _TEST_DEPS + ["//tests/support:known_leaks", "//tools/third_party:catch2_main"],
        **kwargs
    )

def _cores_of(thread_count):
    """Cores that a run reserves: Bazel starts none that wants more than are free."""
    return thread_count if thread_count < 3 else 2 if thread_count < 7 else 4

def weft_mpi_test(name, srcs = None, parts = [], deps = [], ranks = [1, 2, 3, 4], threads = [1, 2], often = [], tags = [], data = [], **kwargs):
    """A Catch2 test that runs at every number of ranks, with one number of threads after the other.

    One of the runs is for the sanitizers: that with the most ranks up to three. With several numbers
    of threads it is one more, of two ranks with the most threads, which suffice to show races; three
    ranks with as many threads mostly wait for a core there.

    Args:
      name: the name of the suite; one run is called name_RrTt.
      srcs: sources without a main; NAME.cpp.
      parts: as in weft_cc_test.
      deps: libraries beyond those of tests/support that every such test needs.
      ranks: numbers of ranks.
      threads: numbers of compute threads a rank.
      often: of these ranks, numbers above 3 that run each time, not with tools/test --all only.
      tags: for every run; "tsan" for the run of the sanitizers only.
      data: files that the test reads.
      **kwargs: anything else that sh_test knows.
    """
    program = name + "_program"
    sources, libraries, together_copts = _together(name, parts)
    cc_binary(
        name = program,
        testonly = True,
        srcs = srcs or sources,
        copts = _TEST_COPTS + together_copts,
        linkstatic = True,
        deps = deps + libraries + _TEST_DEPS + ["//tests/support:mpi_main", "//tests/support:thread_count"],
    )
    for rank_count in often:
        if rank_count not in ranks:
            fail("{}: often has {} ranks, which ranks has not".format(name, rank_count))
    sanitized = ([rank_count for rank_count in ranks if rank_count <= 3] or ranks)[-1]
    has_own_run = sanitized == 3 and len(threads) > 1
    runs = []
    for i, rank_count in enumerate(ranks):
        # The most threads with three ranks, and with every other number from there.
        thread_count = threads[(i + ranks.index(sanitized) + len(threads) - 1) % len(threads)]
        is_sanitized = rank_count == sanitized and not has_own_run
        kinds = ["sanitize"] if is_sanitized else []
        if rank_count > 3 and rank_count not in often:
            kinds.append("thorough")
        runs.append((rank_count, thread_count, kinds))
    if has_own_run:
        runs.append((2, threads[-1], ["sanitize", "only_sanitized"]))
    for rank_count, thread_count, kinds in runs:
        native.sh_test(
            name = "{}_{}r{}t".format(name, rank_count, thread_count),
            size = "small",
            srcs = ["//tools/build_defs:run_mpi_test"],
            args = [str(rank_count), str(thread_count), "$(rootpath {})".format(program)],
            data = [program] + data,
            # They wait for each other much of the time: two fill two cores, one of many threads does, too.
            tags = ["mpi", "cpu:{}".format(_cores_of(rank_count * thread_count))] + kinds +
                   [tag for tag in tags if tag != "tsan" or "sanitize" in kinds],
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = ["{}_{}r{}t".format(name, rank_count, thread_count) for rank_count, thread_count, _ in runs],
    )

def weft_system_test(name, cores = 1, srcs = None, deps = [], tags = [], data = [], **kwargs):
    """A Catch2 test that runs the whole program under mpiexec, in whatever way its cases say.

    Args:
      name: the name of the test.
      cores: 2 where it must not run beside other tests: it measures, or uses all cores all the time.
      srcs: as in cc_test.
      deps: libraries beyond those that every such test needs.
      tags: as in cc_test.
      data: files beyond the program.
      **kwargs: anything else that cc_test knows.
    """
    cc_test(
        name = name,
        size = "medium",
        srcs = srcs or [name + ".cpp"],
        data = ["//tools:weft"] + data,
        copts = _SYSTEM_TEST_COPTS,
        linkstatic = True,
        # A run starts and ends for longer than it computes: two tests at a time fill two cores.
        tags = ["system", "cpu:{}".format(cores)] + tags,
        deps = deps + _SYSTEM_TEST_DEPS + [
            "//tests/system:json_report",
            "//tests/system:program_run",
            "//tools/third_party:catch2_main",
        ],
        **kwargs
    )
