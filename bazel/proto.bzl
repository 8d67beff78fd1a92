"""C++ from .proto files with the distribution's protoc."""

def cc_proto_files(name, srcs, visibility = None, deps = []):
    """Compiles `srcs` of this package into one cc_library.

    Imports are written from the workspace root ("proto/link.proto"); every
    imported file must be in `srcs`.
    """
    headers = [s.replace(".proto", ".pb.h") for s in srcs]
    sources = [s.replace(".proto", ".pb.cc") for s in srcs]
    native.genrule(
        name = name + "_generated",
        srcs = srcs,
        outs = headers + sources,
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) $(SRCS)",
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        linkstatic = True,
        visibility = visibility,
        deps = ["//bazel/system:protobuf"] + deps,
    )
