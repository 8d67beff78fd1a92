"""C++ from .proto files with the distribution's protoc."""

load("//bazel:cc.bzl", "cc_library")

def cc_proto_files(name, srcs, visibility = None, imports = [], deps = []):
    """Compiles `srcs` of this package into one cc_library.

    Imports are written from the workspace root ("proto/link.proto"); every
    imported file must be in `srcs`, or in `imports` and compiled by one of `deps`.
    """
    headers = [s.replace(".proto", ".pb.h") for s in srcs]
    sources = [s.replace(".proto", ".pb.cc") for s in srcs]
    native.genrule(
        name = name + "_generated",
        srcs = srcs + imports,
        outs = headers + sources,
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) " +
              " ".join(["$(location %s)" % s for s in srcs]),
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        linkstatic = True,
        visibility = visibility,
        deps = ["//bazel/system:protobuf"] + deps,
    )
