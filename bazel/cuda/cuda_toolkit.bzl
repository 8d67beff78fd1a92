"""Finds the CUDA toolkit: the external repository @cuda.

It looks in the environment's CUDA_HOME, else in /usr/local/cuda. Nothing of the
toolkit is globbed or copied: its headers come by -isystem, its libraries by -L.
Where there is none, or with --repo_env=CUDA_HOME=none, the targets are empty and
HAS_CUDA is False.
"""

_DEFAULT_HOME = "/usr/local/cuda"

_LIBRARIES = {
    "cudart": ["-lcudart_static", "-ldl", "-lrt", "-lpthread"],
    "cublasLt": ["-lcublasLt"],
    "cudnn": ["-lcudnn"],
    "nccl": ["-lnccl"],
    "cupti": ["-lcupti"],
}

# Where a program looks for what it loads when it needs it: beside itself first.
_RUN_PATHS = ["-Wl,-rpath,$$ORIGIN", "-Wl,-rpath,/usr/local/cuda/lib64"]

def _library(name, linkopts):
    return 'cc_library(name = "{}", linkopts = {})\n'.format(name, linkopts)

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "") or _DEFAULT_HOME
    has_cuda = (ctx.path(home + "/bin/nvcc").exists and
                ctx.path(home + "/include/cuda_runtime.h").exists) if home.startswith("/") else False
    build = 'package(default_visibility = ["//visibility:public"])\n'
    for name, libraries in _LIBRARIES.items():
        build += _library(name, ["-L" + home + "/lib64"] + _RUN_PATHS + libraries if has_cuda else [])
    ctx.file("BUILD", build)
    ctx.file("toolkit.bzl", 'HAS_CUDA = {}\nCUDA_HOME = "{}"\n'.format(
        has_cuda,
        home if has_cuda else "",
    ))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
