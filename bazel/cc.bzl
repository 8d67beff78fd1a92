"""cc_test as this project builds it, and cc_library for what runs once."""

# What reads flags and writes reports once a run is mostly templates of CLI11 and JSON, and a test
# those of GoogleTest: a quarter to a third less to compile, and nobody waits for it. This comes
# after what a configuration says: it holds in every one.
RUNS_ONCE = ["-O0"]

def cc_library_run_once(name, copts = [], **kwargs):
    """A cc_library that runs once a command, as flags and reports do: it is not optimised."""
    native.cc_library(
        name = name,
        copts = RUNS_ONCE + copts,
        **kwargs
    )

def cc_test(name, copts = [], deps = [], **kwargs):
    """A test is not optimised; what it tests is. gcc reads GoogleTest's headers once for all tests."""
    native.cc_test(
        name = name,
        copts = RUNS_ONCE + copts + select({
            "//bazel:precompiled": [
                "-include",
                "bazel/first/precompiled/test_first.h",
                # An error where gcc would read the header itself, which takes the time that is saved.
                "-Winvalid-pch",
            ],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//bazel:precompiled": ["//bazel/first:test_first"],
            "//conditions:default": [],
        }),
        **kwargs
    )
