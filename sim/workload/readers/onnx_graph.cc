#include "sim/workload/readers/onnx_graph.h"

#include <map>
#include <set>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/readers/onnx_operators.h"
#include "sim/workload/readers/onnx_tensors.h"

namespace stagecraft {
namespace {

struct Uses {
  size_t last = 0;  // the last node that reads the tensor
  int readers = 0;
};

// Returns the nodes that begin a layer.
std::vector<size_t> LayerStarts(const OnnxTensors& tensors) {
  const auto& nodes = tensors.nodes();
  std::map<std::string, Uses> uses;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const std::string& input : nodes[n]->input()) {
      if (input.empty()) continue;
      uses[input].last = n;
      ++uses[input].readers;
    }
  }
  std::vector<size_t> starts = {0};
  std::set<std::string> live;
  bool has_product = false;  // in the open layer
  for (size_t n = 0; n < nodes.size(); ++n) {
    const bool is_product = IsOnnxProduct(nodes[n]->op_type());
    if (has_product && live.size() == 1 && (is_product || uses[*live.begin()].readers > 1)) {
      starts.push_back(n);
      has_product = false;
    }
    has_product = has_product || is_product;
    for (const std::string& input : nodes[n]->input()) {
      if (!input.empty() && uses[input].last == n) live.erase(input);
    }
    for (const std::string& output : nodes[n]->output()) {
      const auto use = uses.find(output);
      if (use != uses.end() && tensors.at(output).is_trained) live.insert(output);
    }
  }
  // What follows the last GEMM belongs to its layer.
  if (!has_product && starts.size() > 1) starts.pop_back();
  return starts;
}

LayerRole RoleOf(size_t layer, size_t count) {
  if (count == 1) return LayerRole::kBlock;
  if (layer == 0) return LayerRole::kEmbedding;
  return layer + 1 == count ? LayerRole::kHead : LayerRole::kBlock;
}

const char* NameOf(LayerRole role) {
  return role == LayerRole::kEmbedding ? "stem" : role == LayerRole::kHead ? "head" : "block";
}

}  // namespace

Workload OnnxWorkload(const onnx::ModelProto& model, const std::string& name_for_errors) {
  const OnnxTensors tensors(model.graph(), name_for_errors);
  const auto& nodes = tensors.nodes();
  NetworkBuilder net(name_for_errors);
  OnnxEmitter emitter(tensors, net);
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (!tensors.at(input.name()).is_static) emitter.AddInput(input.name());
  }
  if (nodes.empty()) {
    throw InputError(name_for_errors + ": no node reads an input, want a network");
  }
  const std::vector<size_t> starts = LayerStarts(tensors);
  size_t layer = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (layer < starts.size() && n == starts[layer]) {
      const LayerRole role = RoleOf(layer, starts.size());
      net.BeginLayer(NameOf(role), role);
      ++layer;
    }
    emitter.Emit(*nodes[n]);
  }
  if (net.operator_count() == 0) {
    throw InputError(name_for_errors + ": no node computes anything, want a network");
  }
  return net.Finish(/*max_sequence=*/1, /*hidden=*/1, /*vocabulary=*/0);
}

Workload ReadOnnx(const std::string& path) {
  onnx::ModelProto model;
  if (!model.ParseFromString(ReadFile(path)) || !model.has_graph()) {
    throw InputError(path + ": is not an ONNX model, want a ModelProto with a graph");
  }
  return OnnxWorkload(model, path);
}

}  // namespace stagecraft
