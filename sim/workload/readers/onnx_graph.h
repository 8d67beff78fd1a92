// Reads ONNX files as workloads.
#pragma once

#include <string>

#include "proto/onnx_subset.pb.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the network as it would be trained: every floating-point initializer of more than one
// element is a parameter. One sample is one token of the plan; the first size of the first input is
// the batch, whose other sizes must be numbers (run ONNX's shape inference with fixed sizes first).
//
// A layer begins at a node before which only one tensor is still to be read (tensors that no
// parameter has touched, such as masks, do not count), if that tensor forks or the node is a GEMM:
// residual blocks and unbranched convolutions are layers. The loss is not in such files and is not
// counted; a product of two activations counts as one GEMM of all their rows.
//
// Throws an InputError that names the node and its op_type for unknown types, missing shapes, and
// cycles.
Workload OnnxWorkload(const onnx::ModelProto& model, const std::string& name_for_errors);
Workload ReadOnnx(const std::string& path);

}  // namespace stagecraft
