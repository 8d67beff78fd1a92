// NetworkBuilder: writes a network of convolutions or sequences down as the layers of a Workload,
// tensor by tensor.
//
// Operators go to the layer that BeginLayer() opened last. A tensor may be read in its own layer or
// in any later one; what a layer hands on is every tensor that is still to be read, so skip
// connections travel along the pipeline. Each tensor that the backward needs is kept once: where it
// was made or, if it was handed on, in the first layer that reads it. A network with a convolution
// is one of images, whose kernels are written down one by one (Workload::lists_kernels).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// An activation of one sample.
struct Tensor {
  int id = -1;
  int64_t channels = 0;
  int64_t height = 0;  // 0 for sequences, which have one row per token of the plan
  int64_t width = 0;

  int64_t positions() const { return height * width; }
  int64_t elements() const { return channels * positions(); }
};

struct Window {
  int64_t height = 1;
  int64_t width = 1;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t pad_height = 0;
  int64_t pad_width = 0;
  int64_t groups = 1;
  bool bias = false;
};
// A square window.
inline Window Square(int64_t size, int64_t stride = 1, int64_t pad = 0) {
  return {size, size, stride, stride, pad, pad};
}

class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::string name) { workload_.name = std::move(name); }

  Tensor Input(int64_t channels, int64_t height, int64_t width);
  // Closes the layer that is open, and begins another. Layers of one name become one kind if
  // everything in them is equal, otherwise "name", "name_2", ...
  void BeginLayer(std::string name, LayerRole role = LayerRole::kBlock);

  // Throws InputError if a window is larger than the input over which it slides.
  Tensor Convolution(Tensor in, int64_t channels, const Window& window);
  Tensor BatchNorm(Tensor in);
  Tensor Relu(Tensor in);  // in place
  Tensor MaxPool(Tensor in, const Window& window, bool rounds_up = false);
  Tensor AveragePool(Tensor in, const Window& window);
  Tensor AdaptivePool(Tensor in, int64_t size);  // to size x size; no operator if it is already
  Tensor Upsample(Tensor in, int64_t factor);
  Tensor Add(Tensor a, Tensor b);
  Tensor Concat(const std::vector<Tensor>& parts);
  Tensor Dropout(Tensor in);
  Tensor Flatten(Tensor in) const;  // costs nothing: rows become channels
  Tensor Linear(Tensor in, int64_t out, bool bias = true);
  // Applies dropout to the branch, adds it to the stream and normalises the sum: the post-norm
  // residual of a sequence.
  Tensor Residual(Tensor branch, Tensor stream);
  // Softmax and cross-entropy over the channels of every row.
  void Loss(Tensor logits);

  // Convolution, batch norm and ReLU.
  Tensor ConvNormRelu(Tensor in, int64_t channels, const Window& window) {
    return Relu(BatchNorm(Convolution(in, channels, window)));
  }

  // Adds any other operator. Its positions, reads_layer_input and the names of what it keeps of its
  // `inputs` are filled in. `keeps` are the tensors that the backward needs.
  Tensor Emit(Operator op, const std::vector<Tensor>& inputs, Tensor out,
              const std::vector<Tensor>& keeps);
  // Makes the operator that made the tensor keep it until the backward.
  void Keep(Tensor made);
  // Declares that parameters of the open layer belong to another layer.
  void TieParameters(int64_t count) { workload_.kinds.back().tied_parameters += count; }

  // The number of operators in all layers so far.
  size_t operator_count() const;

  // Returns the workload. One sample is one token of the plan if `max_sequence` is 1.
  Workload Finish(int64_t max_sequence, int64_t hidden, int64_t vocabulary);

 private:
  struct Place {
    int layer = -1;
    size_t vertex = 0;
  };
  struct Value {
    Tensor tensor;
    Place maker;           // layer -1: the network's input
    int last_reader = -1;  // layer
    int readers = 0;
    std::vector<Place> keepers;  // operators whose backward needs it
  };

  int layer() const { return static_cast<int>(workload_.kinds.size()) - 1; }
  Operator& At(Place place) { return workload_.kinds[place.layer].operators[place.vertex]; }
  Tensor NewTensor(int64_t channels, int64_t height, int64_t width);
  Tensor Slide(Tensor in, int64_t channels, const Window& window, bool rounds_up) const;
  Tensor Pool(const char* name, Tensor in, Tensor out, bool keeps_places);
  Tensor Rowwise(const char* name, const std::vector<Tensor>& inputs, Tensor out);
  void KeepTensors();
  void SumForkedGradients();
  void SetBoundaries();
  void MergeEqualKinds();
  void TellKindsApart();

  Workload workload_;  // while building: one kind per layer
  std::vector<Value> values_;
};

}  // namespace stagecraft
