"""cc_library, cc_test and cc_binary as this project builds them.

gcc reads the headers that most sources begin with once for all of them (precompiled.bzl)."""

# Code that reads flags and writes reports runs once and consists mostly of JSON's templates, and
# tests consist of GoogleTest's. Without optimisation they compile a quarter to a third faster, and
# run fast enough. This option comes after those of the configuration, so it holds in each of them.
RUNS_ONCE = ["-O0"]

def _begins_with(first):
    """Options and dependencies of sources that begin with the precompiled header of //bazel/first:`first`."""
    options = [
        "-include",
        "bazel/first/%s/first.h" % first,
        # Makes it an error, rather than slow, if gcc cannot use the precompiled header.
        "-Winvalid-pch",
    ]
    return (
        select({
            "//bazel:precompiled": options,
            "//conditions:default": [],
        }),
        select({
            "//bazel:precompiled": ["//bazel/first:" + first],
            "//conditions:default": [],
        }),
    )

def _compile(rule, name, first, copts, srcs, deps, kwargs):
    if srcs:
        first_copts, first_deps = _begins_with(first)
        copts = copts + first_copts
        deps = deps + first_deps
    rule(name = name, srcs = srcs, copts = copts, deps = deps, **kwargs)

def cc_library(name, srcs = [], copts = [], deps = [], **kwargs):
    """A cc_library as the configuration optimises it."""
    _compile(native.cc_library, name, "library", copts, srcs, deps, kwargs)

def cc_library_run_once(name, srcs = [], copts = [], deps = [], **kwargs):
    """A cc_library that runs once a command, as flags and reports do: it is not optimised."""
    first = "json_once" if "//bazel/system:json" in deps else "library_once"
    _compile(native.cc_library, name, first, RUNS_ONCE + copts, srcs, deps, kwargs)

def cc_binary(name, srcs = [], copts = [], deps = [], **kwargs):
    """A cc_binary as the configuration optimises it."""
    _compile(native.cc_binary, name, "library", copts, srcs, deps, kwargs)

def cc_test(name, srcs = [], copts = [], deps = [], **kwargs):
    """A test is not optimised; what it tests is."""
    _compile(native.cc_test, name, "test", RUNS_ONCE + copts, srcs, deps, kwargs)
