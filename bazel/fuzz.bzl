"""fuzz_target: a reader of foreign bytes under random inputs.

NAME.cc defines LLVMFuzzerTestOneInput (tests/fuzz/fuzzing.h); corpus/NAME holds sound files.

  NAME_replay_test  a test for every compiler: the files, and `inputs` seeded mutations of them
  NAME_fuzzer       libFuzzer's, by `bazel build --config=sanitize`; manual, needs clang
"""

def fuzz_target(name, deps, inputs):
    native.cc_library(
        name = name,
        testonly = True,
        srcs = [name + ".cc"],
        alwayslink = True,
        deps = [":fuzzing"] + deps,
    )
    native.cc_test(
        name = name + "_replay_test",
        size = "small",
        args = [
            native.package_name() + "/corpus/" + name,
            str(inputs),
        ],
        data = native.glob(["corpus/" + name + "/*"]),
        deps = [
            ":" + name,
            ":replay_main",
        ],
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":" + name],
    )
