"""cc_test as this project builds it, and the options of what runs once."""

# What reads flags and writes reports once a run is mostly templates of CLI11 and JSON, and a test
# those of GoogleTest: a quarter to a third less to compile, and nobody waits for it.
RUNS_ONCE = ["-O0"]

def cc_test(name, copts = [], deps = [], **kwargs):
    """A test is not optimised; what it tests is. gcc reads GoogleTest's headers once for all tests."""
    native.cc_test(
        name = name,
        copts = RUNS_ONCE + copts + select({
            "//bazel:precompiled": ["-include", "bazel/first/precompiled/test_first.h"],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//bazel:precompiled": ["//bazel/first:test_first"],
            "//conditions:default": [],
        }),
        **kwargs
    )
