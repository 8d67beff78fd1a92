#include "sim/workload/readers/onnx_tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// The most that a Workload can count (sim/workload/workload_proto.cc has the same limit).
constexpr int64_t kMostElements = 1'000'000'000'000;

// The values of TensorProto.DataType that weights have.
bool IsFloatingPoint(int data_type) {
  return data_type == 1 || data_type == 10 || data_type == 11 || data_type == 16;
}

}  // namespace

int64_t ElementsOf(const std::vector<int64_t>& dims, size_t first) {
  int64_t elements = 1;
  for (size_t d = first; d < dims.size(); ++d) elements *= dims[d];
  return elements;
}

int64_t OnnxTensor::Elements() const {
  CHECK(has_shape);
  return ElementsOf(dims);
}

OnnxTensors::OnnxTensors(const onnx::GraphProto& graph, const std::string& path)
    : graph_(graph), path_(path) {
  ReadInitializers();
  ReadBatch();
  AddOutputs();
  for (const auto& value : graph_.input()) ReadShape(value);
  for (const auto& value : graph_.value_info()) ReadShape(value);
  for (const auto& value : graph_.output()) ReadShape(value);
  SortNodes();
}

void OnnxTensors::Fail(const onnx::NodeProto& node, const std::string& what) const {
  const std::string name = !node.name().empty()     ? node.name()
                           : node.output_size() > 0 ? node.output(0)
                                                    : "";
  throw InputError(fmt::format("{}: node '{}' ({}): {}", path_, name, node.op_type(), what));
}

const OnnxTensor& OnnxTensors::Shaped(const std::string& name, const onnx::NodeProto& node) const {
  const OnnxTensor& tensor = tensors_.at(name);
  if (!tensor.has_shape) {
    Fail(node, fmt::format("the shape of '{}' is not in the file or has sizes without a number, "
                           "want numbers for all but the batch: run shape inference first",
                           name));
  }
  return tensor;
}

int64_t OnnxTensors::ElementsPerSample(const std::string& name, const onnx::NodeProto& node) const {
  return DivideUp(Shaped(name, node).Elements(), batch_);
}

void OnnxTensors::ReadInitializers() {
  for (const onnx::TensorProto& initializer : graph_.initializer()) {
    OnnxTensor tensor;
    tensor.has_shape = tensor.is_static = true;
    tensor.initializer = initializer.name();
    int64_t elements = 1;
    for (const int64_t dim : initializer.dims()) {
      // A size of zero is an empty list of axes or the like.
      if (dim < 0 || (dim > 0 && elements > kMostElements / dim)) {
        throw InputError(
            fmt::format("{}: initializer '{}': got a size of {}, want at most {} "
                        "elements in all",
                        path_, initializer.name(), dim, kMostElements));
      }
      elements = std::max<int64_t>(1, elements * dim);
      tensor.dims.push_back(dim);
    }
    tensor.is_trained = elements > 1 && IsFloatingPoint(initializer.data_type());
    if (!tensors_.emplace(initializer.name(), std::move(tensor)).second) {
      throw InputError(fmt::format("{}: initializer '{}' is there twice, want it once", path_,
                                   initializer.name()));
    }
  }
}

void OnnxTensors::ReadBatch() {
  for (const onnx::ValueInfoProto& input : graph_.input()) {
    if (!tensors_.try_emplace(input.name()).second) continue;  // an initializer
    const auto& shape = input.type().tensor_type().shape();
    if (batch_name_.empty() && batch_ == 1 && shape.dim_size() > 0) {
      batch_name_ = shape.dim(0).dim_param();
      batch_ = std::max<int64_t>(1, shape.dim(0).dim_value());
    }
  }
}

void OnnxTensors::AddOutputs() {
  for (const onnx::NodeProto& node : graph_.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty() && !tensors_.try_emplace(output).second) {
        Fail(node, fmt::format("makes '{}', which exists already, want a new name", output));
      }
    }
  }
}

void OnnxTensors::ReadShape(const onnx::ValueInfoProto& value) {
  const auto found = tensors_.find(value.name());
  if (found == tensors_.end() || found->second.has_shape) return;
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    const bool is_batch = !batch_name_.empty() && dim.dim_param() == batch_name_;
    const int64_t size = is_batch ? 1 : dim.dim_value();
    if (!is_batch && !dim.has_dim_value()) return;  // unknown until a node needs it
    if (size < 1 || elements > kMostElements / size) {
      throw InputError(
          fmt::format("{}: tensor '{}': got a size of {}, want at least 1 and at most "
                      "{} elements in all",
                      path_, value.name(), size, kMostElements));
    }
    elements *= size;
    dims.push_back(size);
  }
  found->second.dims = std::move(dims);
  found->second.has_shape = true;
}

// Of the nodes that may come next, the first in the file does; its order is topological if the
// exporter followed the standard.
void OnnxTensors::SortNodes() {
  std::map<std::string, std::vector<int>> readers;
  std::vector<int> missing(static_cast<size_t>(graph_.node_size()));
  std::set<std::string> made;
  for (const auto& node : graph_.node()) made.insert(node.output().begin(), node.output().end());
  for (int n = 0; n < graph_.node_size(); ++n) {
    for (const std::string& input : graph_.node(n).input()) {
      if (input.empty()) continue;
      if (!tensors_.contains(input)) {
        Fail(graph_.node(n), fmt::format("reads '{}', which nothing makes", input));
      }
      if (!made.contains(input)) continue;
      readers[input].push_back(n);
      ++missing[n];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int n = 0; n < graph_.node_size(); ++n) {
    if (missing[n] == 0) ready.push(n);
  }
  int done = 0;
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    ++done;
    missing[n] = -1;
    Classify(graph_.node(n));
    for (const std::string& output : graph_.node(n).output()) {
      if (output.empty()) continue;
      for (const int reader : readers[output]) {
        if (--missing[reader] == 0) ready.push(reader);
      }
    }
  }
  if (done == graph_.node_size()) return;
  const auto stuck = std::find_if(missing.begin(), missing.end(), [](int m) { return m > 0; });
  Fail(graph_.node(static_cast<int>(stuck - missing.begin())),
       "is on a cycle or after one, want a graph without cycles");
}

void OnnxTensors::Classify(const onnx::NodeProto& node) {
  OnnxTensor made;
  made.is_static = true;
  int trained = 0;
  for (const std::string& name : node.input()) {
    if (name.empty()) continue;
    const OnnxTensor& input = tensors_.at(name);
    made.is_static = made.is_static && input.is_static;
    made.is_trained = made.is_trained || input.is_trained;
    if (!input.is_trained) continue;
    made.initializer = ++trained == 1 ? input.initializer : "";
  }
  // A shape is the same for every sample.
  if (node.op_type() == "Shape" || node.op_type() == "Size") {
    made.is_static = true;
    made.is_trained = false;
  }
  for (const std::string& name : node.output()) {
    if (name.empty()) continue;
    OnnxTensor& output = tensors_.at(name);
    output.is_static = made.is_static;
    output.is_trained = made.is_trained;
    output.initializer = made.is_static ? made.initializer : "";
  }
  if (!made.is_static) nodes_.push_back(&node);
}

}  // namespace stagecraft
