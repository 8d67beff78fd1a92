"""Finds the CUDA toolkit: the external repository @cuda.

It looks in the environment's CUDA_HOME, else in /usr/local/cuda. Nothing of the
toolkit is globbed or copied: its headers come by -isystem, its runtime by -L.
Where there is none, or one without a header that we need, which it says, or with
--repo_env=CUDA_HOME=none, @cuda//:cudart is empty and HAS_CUDA is False.
"""

_DEFAULT_HOME = "/usr/local/cuda"

# Headers that we need: the toolkit's, and those of cuDNN and NCCL, which are separate packages.
_HEADERS = ["cuda_runtime.h", "cublasLt.h", "cudnn.h", "cupti.h", "nccl.h"]

# Where Debian's packages of cuDNN and NCCL put their headers; compilers look there anyway.
_SYSTEM_INCLUDES = ["/usr/include", "/usr/include/x86_64-linux-gnu"]

_RUNTIME = ["-lcudart_static", "-ldl", "-lrt", "-lpthread"]

# Where a program looks for libraries that it loads when it needs them: beside itself first.
_RUN_PATHS = ["-Wl,-rpath,$$ORIGIN", "-Wl,-rpath,/usr/local/cuda/lib64"]

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "") or _DEFAULT_HOME
    has_cuda = home.startswith("/") and ctx.path(home + "/bin/nvcc").exists
    if has_cuda:
        includes = [home + "/include"] + _SYSTEM_INCLUDES
        for header in _HEADERS:
            if not any([ctx.path(folder + "/" + header).exists for folder in includes]):
                # buildifier: disable=print
                print("built without CUDA: no {} in {}".format(header, ", ".join(includes)))
                has_cuda = False
    ctx.file("BUILD", """package(default_visibility = ["//visibility:public"])
cc_library(name = "cudart", linkopts = {})
""".format(["-L" + home + "/lib64"] + _RUN_PATHS + _RUNTIME if has_cuda else []))
    ctx.file("toolkit.bzl", 'HAS_CUDA = {}\nCUDA_HOME = "{}"\n'.format(
        has_cuda,
        home if has_cuda else "",
    ))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
