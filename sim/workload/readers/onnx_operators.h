// Maps ONNX operators to operators of a Workload, one node at a time.
#pragma once

#include <map>
#include <string>

#include "proto/onnx_subset.pb.h"
#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/readers/onnx_tensors.h"

namespace stagecraft {

// Returns whether a node of this type multiplies matrices or looks up rows, and so is worth a layer
// of its own.
bool IsOnnxProduct(const std::string& op_type);

class OnnxEmitter {
 public:
  // Keeps references to both.
  OnnxEmitter(const OnnxTensors& tensors, NetworkBuilder& net) : tensors_(tensors), net_(net) {}

  // Adds an input of the network.
  void AddInput(const std::string& name);
  // Appends the node to the open layer; views and reshapes append nothing. Throws InputError for
  // unknown types and shapes that do not fit.
  void Emit(const onnx::NodeProto& node);

 private:
  void Convolve(const onnx::NodeProto& node, bool is_transposed);
  void Multiply(const onnx::NodeProto& node);
  void CheckMatrix(const onnx::NodeProto& node, const Operator& op) const;
  void LookUp(const onnx::NodeProto& node);
  void Normalize(const onnx::NodeProto& node);
  void Pool(const onnx::NodeProto& node);
  void Elementwise(const onnx::NodeProto& node);
  void Copy(const onnx::NodeProto& node);
  void View(const onnx::NodeProto& node);

  const std::string& Input(const onnx::NodeProto& node, int index) const;
  // Returns the inputs that depend on the sample, from `first` on.
  std::vector<Tensor> Dynamic(const onnx::NodeProto& node, int first = 0) const;
  // Returns the number of elements of a trained input; if an earlier node has counted them, they
  // are tied.
  int64_t Parameters(const onnx::NodeProto& node, int index);
  int64_t Elements(const std::string& name, const onnx::NodeProto& node) const {
    return tensors_.ElementsPerSample(name, node);
  }
  void Add(const onnx::NodeProto& node, Operator op, const std::vector<Tensor>& inputs,
           const std::vector<Tensor>& keeps, bool keeps_output = false);

  const OnnxTensors& tensors_;
  NetworkBuilder& net_;
  std::map<std::string, Tensor> made_;      // by ONNX name
  std::map<std::string, bool> is_counted_;  // initializers
};

}  // namespace stagecraft
