// What is known about an ONNX graph before its operators are looked at: the order of its nodes, and
// the shape and origin of each tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/onnx_subset.pb.h"

namespace stagecraft {

// Returns the number of elements of a tensor of these sizes, from dimension `first` on.
int64_t ElementsOf(const std::vector<int64_t>& dims, size_t first = 0);

struct OnnxTensor {
  bool has_shape = false;
  std::vector<int64_t> dims;  // the batch is 1 if it only has a name
  // Whether it is the same for every sample: initializers and what is computed from them.
  bool is_static = false;
  // Whether it is a floating-point initializer of more than one element, or computed from one.
  bool is_trained = false;
  std::string initializer;  // that of a static tensor, if it is computed from one only

  int64_t Elements() const;  // of the whole batch; needs a shape
};

class OnnxTensors {
 public:
  // Keeps a reference to `graph`. Throws InputError for tensors made twice or
  // never, cycles, and sizes that are not positive.
  OnnxTensors(const onnx::GraphProto& graph, const std::string& path);

  // Nodes that work on samples, in execution order.
  const std::vector<const onnx::NodeProto*>& nodes() const { return nodes_; }
  const OnnxTensor& at(const std::string& name) const { return tensors_.at(name); }
  // The tensor with its shape; throws InputError if the shape, which `node` needs, is not known.
  const OnnxTensor& Shaped(const std::string& name, const onnx::NodeProto& node) const;
  int64_t ElementsPerSample(const std::string& name, const onnx::NodeProto& node) const;
  // The number of samples to which the shapes apply: the first size of the first input.
  int64_t batch() const { return batch_; }

  // Throws InputError("model.onnx: node 'conv1' (Conv): ...").
  [[noreturn]] void Fail(const onnx::NodeProto& node, const std::string& what) const;

 private:
  void ReadInitializers();
  void ReadBatch();
  void ReadShape(const onnx::ValueInfoProto& value);
  void AddOutputs();
  void SortNodes();
  void Classify(const onnx::NodeProto& node);

  const onnx::GraphProto& graph_;
  std::string path_;
  std::map<std::string, OnnxTensor> tensors_;
  std::vector<const onnx::NodeProto*> nodes_;
  std::string batch_name_;
  int64_t batch_ = 1;
};

}  // namespace stagecraft
