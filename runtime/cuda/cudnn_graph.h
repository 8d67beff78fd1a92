// CudnnGraph: operations on tensors in the form that cuDNN takes, and the plan that runs them as
// one fused kernel or a few.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cuda/cudnn_library.h"

namespace stagecraft {

// Four sizes: sequences, heads, rows, columns.
using Sizes = std::vector<int64_t>;
// Returns the strides of a contiguous tensor.
Sizes PackedStrides(const Sizes& sizes);

class CudnnGraph {
 public:
  // A tensor of the graph, by index.
  using Tensor = size_t;
  enum class Home {
    kMemory,   // memory that is an argument of the plan
    kVirtual,  // an intermediate result between two operations
    kValue,    // one number, passed at each run
  };

  explicit CudnnGraph(std::shared_ptr<Cudnn> library) : library_(std::move(library)) {}

  Tensor Add(const Sizes& sizes, const Sizes& strides, cudnnDataType_t type, Home home);
  // Adds an intermediate result in 32 bits.
  Tensor Between(const Sizes& sizes) {
    return Add(sizes, PackedStrides(sizes), CUDNN_DATA_FLOAT, Home::kVirtual);
  }

  void Product(Tensor a, Tensor b, Tensor result);
  void Reduce(cudnnReduceTensorOp_t how, Tensor from, Tensor to);
  void Pointwise(cudnnPointwiseMode_t mode, Tensor x, std::optional<Tensor> b,
                 std::optional<Tensor> t, Tensor result, int64_t axis = -1,
                 cudnnDataType_t arithmetic = CUDNN_DATA_FLOAT);
  void Reshape(Tensor from, Tensor to);

  const Sizes& sizes(Tensor tensor) const { return tensors_[tensor].sizes; }
  int64_t uid(Tensor tensor) const { return static_cast<int64_t>(tensor) + 1; }
  // Returns the library of the graph, which is valid as long as the graph.
  Cudnn& cudnn() const { return *library_; }

  // Returns the engines that the heuristic names for this number of multiprocessors of a device (0:
  // all), with their settings, the first choice first. If the heuristic has none for fewer than
  // all, as that of cuDNN 9.19 for attention, or cannot be asked for them, returns those for the
  // whole device. Empty if it knows none for the graph.
  std::vector<Descriptor> FindEngines(const Descriptor& device, int multiprocessors = 0);
  // Returns the plan of the first of these engines that compiles; no value if none does.
  std::optional<Descriptor> MakePlan(const Descriptor& device, int multiprocessors = 0);

 private:
  struct OneTensor {
    Sizes sizes;
    Descriptor descriptor;
  };

  std::vector<Descriptor> AskHeuristic(const Descriptor& device, int multiprocessors);
  Descriptor Make(cudnnBackendDescriptorType_t type) const { return Descriptor(*library_, type); }
  const Descriptor& of(Tensor tensor) const { return tensors_[tensor].descriptor; }

  std::shared_ptr<Cudnn> library_;
  std::vector<OneTensor> tensors_;
  std::vector<Descriptor> kinds_, operations_;  // graph_ holds them
  std::optional<Descriptor> graph_;
};

int64_t WorkspaceOf(const Cudnn& library, const Descriptor& plan);

}  // namespace stagecraft
