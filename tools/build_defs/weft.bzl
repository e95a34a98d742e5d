"""The rules of this repository: libraries, serial tests and tests with several ranks."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//tools/build_defs:rooms.bzl", "rooms_above")

def _header_source_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cpp")
    path = ctx.file.header.short_path
    ctx.actions.write(source, "#include \"{0}\"\n#include \"{0}\"\n".format(path))
    return [DefaultInfo(files = depset([source]))]

_header_source = rule(
    implementation = _header_source_impl,
    attrs = {"header": attr.label(allow_single_file = True, mandatory = True)},
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
        inputs = toolchain.all_files,
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
_TEST_COPTS = TEST_COPTS + _early("catch2")
_TEST_DEPS = ["//tools/build_defs:catch2"]

def weft_cc_library(name, srcs = None, hdrs = None, parts = [], public = False, deps = [], tags = [], testonly = False, **kwargs):
    """A cc_library; a header without a source of its name is also compiled alone, twice in one file.

    A source includes the header of its name first (tools/check_layers), which shows the same.

    Args:
      name: the name of the header without its ending.
      srcs: the source; NAME.cpp where there is one.
      hdrs: the header; NAME.h.
      parts: names of headers, and sources, that only this library uses.
      public: whether the rooms above may use it (rooms.bzl); tests always may.
      deps: as in cc_library.
      tags: as in cc_library.
      testonly: as in cc_library.
      **kwargs: anything else that cc_library knows.
    """
    if srcs == None:
        srcs = native.glob([part + ".cpp" for part in [name] + parts])
    if hdrs == None:
        hdrs = native.glob([part + ".h" for part in [name] + parts])
    visibility = kwargs.pop("visibility", ["//tests:__subpackages__"])
    if public:
        visibility = visibility + rooms_above(native.package_name())
    early = "json" if native.package_name().startswith("tools") else "standard"
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        linkstatic = True,
        # Under the sanitizers only: elsewhere a source compiles with what it includes itself.
        copts = select({
            _SANITIZER: _early(early),
            "//conditions:default": [],
        }),
        deps = deps + select({
            _SANITIZER: ["//tools/build_defs:" + early],
            "//conditions:default": [],
        }),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
        **kwargs
    )
    for header in hdrs:
        if native.glob([header.replace(".h", ".cpp")]):
            continue
        check = header.replace(".", "_").replace("/", "_") + "_alone"
        _header_source(
            name = check + "_source",
            header = header,
            tags = ["header_check"],
            testonly = testonly,
            visibility = ["//visibility:private"],
        )
        cc_library(
            name = check,
            srcs = [check + "_source"],
            linkstatic = True,
            tags = ["header_check"],
            testonly = testonly,
            visibility = ["//visibility:private"],
            deps = [name],
        )

def weft_room(deps):
    """All of a folder as one library of the folder's name, which the rooms above may use.

    Its sources compile as one, because most of their time goes into templates of the same headers.

    Args:
      deps: of all its sources and headers.
    """
    name = native.package_name().split("/")[-1]
    sources = native.glob(["*.cpp"])
    _one_source(
        name = name + "_source",
        sources = sources,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + "_source"],
        hdrs = native.glob(["*.h"]),
        textual_hdrs = sources,
        linkstatic = True,
        # A local name may be that of another source, and GCC takes their types to be of a header.
        copts = ["-Wno-shadow", "-Wno-subobject-linkage"] + select({
            _SANITIZER: _early("json"),
            "//conditions:default": [],
        }),
        deps = deps + select({
            _SANITIZER: ["//tools/build_defs:json"],
            "//conditions:default": [],
        }),
        visibility = rooms_above(native.package_name()) + ["//tests:__subpackages__"],
    )

def weft_cc_test(name, srcs = None, deps = [], tags = [], size = "small", copts = None, **kwargs):
    """A serial Catch2 test; `copts` where it takes long and is to be optimized in every way."""
    cc_test(
        name = name,
        size = size,
        srcs = srcs or [name + ".cpp"],
        copts = copts or _TEST_COPTS,
        linkstatic = True,
        tags = ["serial"] + tags,
        deps = deps + _TEST_DEPS + ["//tests/support:known_leaks", "//tools/third_party:catch2_main"],
        **kwargs
    )

def weft_mpi_test(name, srcs = None, deps = [], ranks = [1, 2, 3, 4], threads = [1, 2], tags = [], data = [], **kwargs):
    """A Catch2 test that runs at every number of ranks, with one number of threads after the other.

    One of the runs, with three ranks where there are, is tagged for the sanitizers.

    Args:
      name: the name of the suite; one run is called name_RrTt.
      srcs: sources without a main; NAME.cpp.
      deps: libraries.
      ranks: numbers of ranks.
      threads: numbers of compute threads a rank.
      tags: for every run; "tsan" for the run of the sanitizers only.
      data: files that the test reads.
      **kwargs: anything else that sh_test knows.
    """
    program = name + "_program"
    cc_binary(
        name = program,
        testonly = True,
        srcs = srcs or [name + ".cpp"],
        copts = _TEST_COPTS,
        linkstatic = True,
        deps = depset(deps + _TEST_DEPS + ["//tests/support:mpi_main"]).to_list(),
    )
    runs = []
    sanitized = 3 if 3 in ranks else ranks[-1]
    for i, rank_count in enumerate(ranks):
        # The most threads with three ranks, and with every other number from there.
        thread_count = threads[(i + ranks.index(sanitized) + len(threads) - 1) % len(threads)]
        run = "{}_{}r{}t".format(name, rank_count, thread_count)
        runs.append(run)
        native.sh_test(
            name = run,
            size = "small",
            srcs = ["//tools/build_defs:run_mpi_test"],
            args = [str(rank_count), str(thread_count), "$(rootpath {})".format(program)],
            data = [program] + data,
            # Bazel runs at most as much at once as the machine has cores.
            tags = ["mpi", "cpu:{}".format(rank_count * thread_count)] +
                   (tags + ["sanitize"] if rank_count == sanitized else [tag for tag in tags if tag != "tsan"]),
            **kwargs
        )
    native.test_suite(name = name, tests = runs)

def weft_system_test(name, srcs = None, deps = [], tags = [], data = [], **kwargs):
    """A Catch2 test that runs the whole program under mpiexec, in whatever way its cases say.

    Args:
      name: the name of the test.
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
        copts = _TEST_COPTS,
        linkstatic = True,
        # The runs share all cores: two of these tests at a time would only disturb each other.
        tags = ["system", "cpu:2"] + tags,
        deps = deps + _TEST_DEPS + [
            "//tests/system:json_report",
            "//tests/system:program_run",
            "//tools/third_party:catch2_main",
        ],
        **kwargs
    )
