"""cuda_library: a cc_library whose sources nvcc compiles, host code among them."""

load("@cuda//:toolkit.bzl", "CUDA_HOME", "HAS_CUDA")

# Machine code for Hopper and Blackwell, and PTX that a driver compiles for any other GPU type from
# Ampere on.
_TARGETS = [
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_100,code=sm_100",
    "-gencode=arch=compute_80,code=compute_80",
]

_RUNTIME = "@cuda//:cudart"

_OPTIONS = [
    # Without this, two compilations would use files of the same name in /tmp, which all sandboxes
    # share.
    "--objdir-as-tempdir",
    "-std=c++20",
    "-O2",
    "-Xcompiler=-Wall,-Wextra,-Werror",
    "-Xcompiler=-ffp-contract=off",
    "-Werror=all-warnings",
]

def _cuda_objects_impl(ctx):
    headers = depset(
        ctx.files.hdrs,
        transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps],
    )
    objects = []
    for source in ctx.files.srcs:
        if source.extension == "h":
            continue
        stem = source.basename[:-len(source.extension) - 1]
        language = ["-x", "cu"] + _TARGETS if source.extension == "cu" else ["-x", "c++"]
        output = ctx.actions.declare_file("{}/{}.o".format(ctx.label.name, stem))
        objects.append(output)
        ctx.actions.run(
            executable = CUDA_HOME + "/bin/nvcc",
            arguments = _OPTIONS + language + [
                "-I.",
                "-I" + ctx.bin_dir.path,
                "-isystem",
                CUDA_HOME + "/include",
                "-c",
                source.path,
                "-o",
                output.path,
            ],
            inputs = depset(ctx.files.srcs, transitive = [headers]),
            outputs = [output],
            mnemonic = "Nvcc",
            progress_message = "Compiling %s with nvcc" % source.short_path,
            use_default_shell_env = True,
        )
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc", ".cu", ".h"]),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)

def if_cuda(with_toolkit, without = []):
    """`with_toolkit` where @cuda found one."""
    return with_toolkit if HAS_CUDA else without

# A list to loop over: of one element with a toolkit, otherwise empty.
ONCE_IF_CUDA = if_cuda(["toolkit"])

def _objects(name, srcs, deps, **kwargs):
    """Compiles `srcs` for the target `name`, and returns their label."""
    _cuda_objects(
        name = name + "_objects",
        srcs = srcs,
        deps = deps,
        visibility = ["//visibility:private"],
        **kwargs
    )
    return ":" + name + "_objects"

def cuda_library(name, srcs = [], hdrs = [], deps = [], **kwargs):
    """Compiles `srcs` (.cu and their private .h) with nvcc into one cc_library.

    What calls CUDA and has no kernels may be .cc: only the host's compiler sees it.
    Without a toolkit there is no such target: name it inside if_cuda.
    """
    if HAS_CUDA:
        native.cc_library(
            name = name,
            srcs = [_objects(
                name,
                srcs,
                deps,
                hdrs = hdrs,
                testonly = kwargs.get("testonly", False),
            )] if srcs else [],
            hdrs = hdrs,
            deps = deps + [_RUNTIME],
            **kwargs
        )

def cuda_test(name, srcs = [], deps = [], size = "small", env = {}, **kwargs):
    """A cc_test whose sources nvcc compiles; none without a toolkit."""
    if HAS_CUDA:
        native.cc_test(
            name = name,
            size = size,
            srcs = [_objects(name, srcs, deps, testonly = True)] if srcs else [],
            deps = deps + [_RUNTIME],
            env = dict(env, CUDA_DRIVER_STUB = CUDA_HOME + "/lib64/stubs/libcuda.so"),
            **kwargs
        )
